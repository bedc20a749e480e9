"""`python -m benchmarks.loads CLIENT`: runs jobs of one client, one for each line of the input.

A line is a job as JSON. The process prints `ready` when the client of the job is made, begins when
it reads another line, so that several processes begin together, and prints figures as JSON. A
process serves many jobs: the start of an interpreter and its imports take longer than most jobs.
Each job makes a client of its own.
"""

import gc
import importlib
import json
import sys
import warnings

from benchmarks.loads.stopwatch import Stopwatch
from benchmarks.workload import Job

MODULES = {
    "barnabas": "barnabas_load",
    "barnabas poll": "barnabas_load",
    "asyncio": "asyncio_load",
    "confluent": "confluent_load",
    "aiokafka": "aiokafka_load",
    "kafka-python": "kafka_python_load",
}


def main(client: str) -> None:
    warnings.simplefilter("ignore", DeprecationWarning)
    module = importlib.import_module(f"benchmarks.loads.{MODULES[client]}")
    for line in iter(sys.stdin.readline, ""):
        job = Job.from_text(line)
        watch = Stopwatch(job.count)
        (module.produce if job.workload.operation == "produce" else module.consume)(job, watch)
        print(json.dumps(watch.figures()), flush=True)
        gc.collect()


if __name__ == "__main__":
    main(sys.argv[1])
