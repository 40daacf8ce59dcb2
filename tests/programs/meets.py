# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""meets.py FOLDER COUNT [STATUS...]: a rank that ends only when all ranks of its job have begun.

Rank N ends with the N-th STATUS, or 0. It needs no package, and any launcher may start it."""

import os
import pathlib
import sys
import threading
import time

VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")

folder, count, statuses = pathlib.Path(sys.argv[1]), int(sys.argv[2]), [int(x) for x in sys.argv[3:]]
rank = int(next(os.environ[name] for name in VARIABLES if name in os.environ))
folder.mkdir(parents=True, exist_ok=True)
threading.Thread(target=lambda: None).start()  # something to record
(folder / f"begun-{rank}").write_text(str(os.getpid()))
while len(list(folder.glob("begun-*"))) < count:
    time.sleep(0.01)
(folder / f"met-{rank}").write_text(str(os.getpid()))
# The launchers of MPI end the others when a rank ends with another status.
while len(list(folder.glob("met-*"))) < count:
    time.sleep(0.01)
sys.exit(statuses[rank] if rank < len(statuses) else 0)
