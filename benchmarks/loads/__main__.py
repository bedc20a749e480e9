"""`python -m benchmarks.loads JOB`: runs the job of one client process and prints figures as JSON.

The process prints `ready` when its client is made, and begins when it reads a line, so that several
processes begin together.
"""

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


def main(text: str) -> None:
    warnings.simplefilter("ignore", DeprecationWarning)
    job = Job.from_text(text)
    module = importlib.import_module(f"benchmarks.loads.{MODULES[job.workload.client]}")
    watch = Stopwatch(job.count)
    (module.produce if job.workload.operation == "produce" else module.consume)(job, watch)
    print(json.dumps(watch.figures()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
