"""Pictures of networks, traffic and worst cases."""
