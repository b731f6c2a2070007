// Package fault names the kinds of failure that callers can tell apart. How a
// kind is spoken (an HTTP status, an exit code) is decided at the edges.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what a caller can do about a failure.
type Kind int

// The kinds, from the caller's fault to ours.
const (
	Internal             Kind = iota // a bug or a failing machine; the caller cannot fix it
	Invalid                          // the request is malformed or out of range
	Unauthenticated                  // no credentials, or unknown ones
	Forbidden                        // known, but not allowed
	NotFound                         // no such thing for this shop
	Gone                             // it was there and is no longer kept
	FailedPrecondition               // well formed, but a rule forbids it now
	Conflict                         // another change is in the way: try again later
	TooLarge                         // the body is over its limit
	UnsupportedMediaType             // the body comes in a form that is not read
	RateLimited                      // the caller's rate or quota is used up
	Unavailable                      // something we depend on does not answer
	DependencyFailed                 // something of the caller's own does not do its part
)

var kindNames = [...]string{"internal", "invalid", "unauthenticated", "forbidden", "notFound", "gone", "refused", "conflict", "tooLarge", "unreadable", "tooMany", "unavailable", "dependency"}

// String returns the kind's stable camelCase name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "internal"
	}
	return kindNames[k]
}

// InDoubt is the key of a failure that leaves it unknown whether the platform carried out
// the request.
const InDoubt = "platformUnknown"

// Error is a failure with a kind. Message is for the caller; Cause, if any, is
// for the log and never shown.
type Error struct {
	Kind       Kind
	ErrorKey   string // stable camelCase code of the broken rule; empty means the kind's name
	EntityName string // what the failure is about, such as "subscriptionBillingAttempt"
	Param      string // the parameter or field at fault, if one is
	Message    string
	Cause      error
	Wait       time.Duration // until it may be retried; 0: unknown
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns a failure of the given kind with a message for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Because returns a failure of the given kind that has a cause for the log.
func Because(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// Code sets the stable code of the broken rule.
func (e *Error) Code(key string) *Error { e.ErrorKey = key; return e }

// Entity sets what the failure is about.
func (e *Error) Entity(entity string) *Error { e.EntityName = entity; return e }

// Field sets the parameter or field at fault.
func (e *Error) Field(param string) *Error { e.Param = param; return e }

// RetryAfter sets how long to wait before it is tried again.
func (e *Error) RetryAfter(d time.Duration) *Error { e.Wait = d; return e }

// KindOf returns the kind of err: Internal when it has none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err has the given kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
