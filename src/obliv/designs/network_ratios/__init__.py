"""The oblivious performance ratio of a routing on any network, with a certificate of both sides."""
