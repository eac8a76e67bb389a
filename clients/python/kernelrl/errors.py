"""Errors of a judge. A wrong kernel is a verdict and never an error; an error is never a score."""

from __future__ import annotations


class JudgeError(Exception):
    """No verdict was reached. `code` is the server's word for the reason, such as "invalid_argument"."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Refused(JudgeError):
    """The request cannot be judged as it is: an unknown task, a malformed definition, a source that is too large."""


class Unauthorized(JudgeError):
    """The token is missing or wrong, or this origin is not allowed."""


class Unavailable(JudgeError):
    """The server cannot be reached, is full or is shutting down; asking again later may help."""

    def __init__(self, message: str, code: str = "unavailable", retry_after_s: float | None = None) -> None:
        super().__init__(message, code)
        self.retry_after_s = retry_after_s


class DeadlinePassed(JudgeError):
    """The verdict did not come in time."""


class InfrastructureError(JudgeError):
    """The server could not judge the kernel through no fault of the kernel's."""


_BY_CODE: dict[str, type[JudgeError]] = {
    "invalid_argument": Refused,
    "not_found": Refused,
    "failed_precondition": Refused,
    "unimplemented": Refused,
    "unauthenticated": Unauthorized,
    "permission_denied": Unauthorized,
    "resource_exhausted": Unavailable,
    "unavailable": Unavailable,
    "deadline_exceeded": DeadlinePassed,
}
_BY_STATUS: dict[int, type[JudgeError]] = {
    401: Unauthorized,
    403: Unauthorized,
    408: Unavailable,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: DeadlinePassed,
}


def error_of(error: dict[str, object], status: int = 0) -> JudgeError:
    """The exception for a server's {"code", "message", "retry_after_s"?}; the status decides if there is one."""
    code, message = str(error.get("code", "")), str(error.get("message", ""))
    kind: type[JudgeError] = InfrastructureError
    if status in _BY_STATUS:
        kind = _BY_STATUS[status]
    elif 400 <= status < 500:
        kind = Refused
    elif code in _BY_CODE:
        kind = _BY_CODE[code]
    if kind is Unavailable:
        after = error.get("retry_after_s")
        return Unavailable(message, code, float(after) if isinstance(after, (int, float)) else None)
    return kind(message, code)
