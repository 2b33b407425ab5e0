#!/bin/sh
# Check tonight's fabric against fabric.toml; mail what is wrong. For cron:  17 3 * * * /opt/fabric/nightly.sh
# With LOG=/var/log/opensm.log it also fails if OpenSM fell back to another engine, which the tables alone cannot tell;
# let  engine = "ftree"  (yours) be a limit, so that it fails, too, where the log does not say which engine ran.
# With SL2VL=FILE and SL=FILE (see the docs on virtual lanes) credit loops are judged lane by lane.
# Every night has a folder of its own; nights/good is the last one that kept all limits. With the limits
#   plan = "nights/good/topology.txt"
#   since = ["nights/good/topology.txt", "nights/good/tables.txt"]
# every cable that is missing, new or moved since then is found, and lost pairs and larger loads are. Add them once there
# is a good night. cron knows few folders: set OBLIV=/path/to/obliv where obliv is in another one.
set -u
cd "$(dirname "$0")" || exit 2
: "${OBLIV:=obliv}"
command -v "$OBLIV" > /dev/null || {
  echo "cron does not find $OBLIV: set OBLIV=/path/to/obliv" >&2
  exit 2
}
night=nights/$(date +%Y-%m-%d-%H%M%S)-$$
mkdir -p "$night" || exit 2
${SCAN:-ibnetdiscover} > "$night/topology.txt" && ${DUMP:-dump_lfts} > "$night/tables.txt" || {
  echo "the scan of the fabric failed: see $PWD/$night" >&2 # cron mails what is printed
  exit 2
}
"$OBLIV" fabric check "$night/topology.txt" --lft "$night/tables.txt" --limits fabric.toml ${LOG:+--log "$LOG"} \
  ${SL2VL:+--sl2vl "$SL2VL"} ${SL:+--sl "$SL"} \
  --output "$night/report.json" --junit "$night/report.xml" --sarif "$night/report.sarif" > "$night/report.txt" 2>&1
status=$?
if [ "$status" -eq 0 ]; then
  ln -sfn "${night#nights/}" nights/good
else
  ${NOTIFY:-mail -s "the fabric does not keep its limits" root} < "$night/report.txt"
fi
exit "$status"
