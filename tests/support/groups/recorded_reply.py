"""A reply of a coordinator that a test reads."""


class RecordedReply:
    """Records how the coordinator completed a request: with replies or with error codes."""

    def __init__(self):
        self.replies = []
        self.codes = []

    def complete(self, reply):
        self.replies.append(reply)

    def fail(self, code):
        self.codes.append(code)

    @property
    def count(self):
        return len(self.replies) + len(self.codes)

    @property
    def error(self):
        """The error of the only reply."""
        (reply,) = self.replies
        return reply.error
