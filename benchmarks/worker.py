"""A process that times cases on request; one JSON object per line in both directions.

`benchmarks.against` starts one worker per checkout, with the checkout's sources on its path.
"""

import hashlib
import json
import sys
import time
import traceback
import warnings

import numpy as np

import slfs
from benchmarks.public_cases import CASES


def main():
    warnings.simplefilter("ignore")
    answers = sys.stdout
    sys.stdout = sys.stderr  # nothing else may be printed between the answers
    _send(answers, {"slfs": slfs.__file__})
    function = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                function = None  # frees the data of the last case
                function = CASES[request["prepare"]]()
                _send(answers, {"result": _digest(function())})
            else:
                _send(answers, {"seconds": _seconds(function, request["loops"])})
        except Exception as error:
            traceback.print_exc()
            _send(answers, {"error": f"{type(error).__name__}: {error}"})


def _seconds(function, loops):
    begin = time.perf_counter()
    for _ in range(loops):
        function()
    return (time.perf_counter() - begin) / loops


def _digest(result):
    return hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()


def _send(answers, message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
