#!/usr/bin/env bash
# Starts a Slurm cluster of one node on loopback, in a temporary folder, runs a command, and
# stops the cluster when the command ends or after ten minutes. Needs root, and Debian's
# slurm-wlm and munge.
#
#	tools/slurm.sh go test ./cmd/paper -run Slurm
set -euo pipefail

[ "$(id -u)" = 0 ] || { echo 'slurm.sh: the daemons of Slurm need root' >&2; exit 1; }
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch; do
	command -v $program >/dev/null || {
		echo "slurm.sh: $program is missing; README.md has the apt-get line" >&2
		exit 1
	}
done

dir=$(mktemp -d)
daemons=()
ready=
stop() {
	if [ "$ready" ]; then
		timeout 5 scancel --partition=all || true
		for ((i = 0; i < 75; i++)); do
			[ "$(timeout 5 squeue --noheader || true)" ] || break
			sleep 0.2
		done
	fi
	for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do kill "${daemons[i]}" 2>/dev/null || true; done
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

freePort() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# A requeued job starts as soon as its credential expires.
cat >"$dir/slurm.conf" <<CONF
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(freePort)
SlurmdPort=$(freePort)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
mkdir "$dir/state" "$dir/spool"
export SLURM_CONF=$dir/slurm.conf

(umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
munged --foreground --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" \
	--log-file="$dir/munged.log" --pid-file="$dir/munged.pid" --seed-file="$dir/munged.seed" 2>/dev/null &
daemons+=($!)
slurmctld -D -i >/dev/null 2>&1 &
daemons+=($!)
slurmd -D -N localhost >/dev/null 2>&1 &
daemons+=($!)

for ((i = 0; i < 150; i++)); do
	if sinfo --noheader --format=%t 2>/dev/null | grep -q idle; then ready=yes; break; fi
	sleep 0.2
done
if [ -z "$ready" ]; then
	echo 'slurm.sh: no node is idle after 30 seconds' >&2
	tail -n 5 "$dir"/*.log >&2
	exit 1
fi
timeout --foreground 600 "$@"
