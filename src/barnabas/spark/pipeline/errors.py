"""What is wrong with a pipeline, and at which key; where that key is written, a file knows."""

from barnabas.model.errors import ConfigError


class PipelineError(ConfigError):
    """`key` is a path such as `sink.mode` or `steps[2].sql`; `problem` says what is wrong."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem

    def at(self, place: str) -> ConfigError:
        """The same with the file, and the line if it is known, in front."""
        return ConfigError(f"{place}: {self}")
