"""The cases of `benchmarks.public_cases`, which run with every version: curves of time and memory."""

from benchmarks.public_cases import CASES


class PublicCases:
    """Prepare a case and call it once, which compiles or loads the kernels; then measure it.

    asv compares results of equal ``version``: increase it if a case measures something else.
    """

    version = "1"
    params = tuple(CASES)
    param_names = ("case",)
    timeout = 600

    def setup(self, case):
        try:
            self.call = CASES[case]()
        except FileNotFoundError as error:  # a dataset of the paper: asv leaves out the case
            raise NotImplementedError(str(error)) from error
        self.call()

    def time_case(self, _):
        self.call()

    def peakmem_case(self, _):
        self.call()
