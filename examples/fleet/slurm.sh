#!/usr/bin/env bash
# A fleet of wiretrial on the nodes of one Slurm job, gone with it.
# Usage: sbatch --nodes=8 slurm.sh URL [FLAGS OF wiretrial load]
#SBATCH --job-name=wiretrial
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=00:15:00
set -euo pipefail

certificates=$(mktemp -d "$HOME/.wiretrial-fleet.XXXXXX")
trap 'rm -rf "$certificates"' EXIT
wiretrial fleet certificates "$certificates"

host=$(hostname -I | cut -d ' ' -f 1)
wiretrial fleet scheduler --host "$host" --certificates "$certificates" &
srun wiretrial fleet agent "tls://$host:8786" --certificates "$certificates" &

wiretrial load "$@" --fleet "tls://$host:8786" --fleet-certificates "$certificates" \
  --fleet-agents "$SLURM_JOB_NUM_NODES"
