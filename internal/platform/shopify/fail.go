package shopify

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// The codes of top-level errors that mean something of their own.
const (
	codeThrottled    = "THROTTLED"
	codeMaxCost      = "MAX_COST_EXCEEDED"
	codeNotFound     = "RESOURCE_NOT_FOUND"
	codeAccessDenied = "ACCESS_DENIED"
	codeShopInactive = "SHOP_INACTIVE"
)

// refusing lists the codes that say that a document was not carried out,
// in addition to those of the static checks.
var refusing = map[string]bool{
	codeMaxCost: true, codeAccessDenied: true, "PARSE_ERROR": true, "INVALID_VARIABLE": true,
	"BAD_REQUEST": true, "NOT_SIMULATED": true,
}

// graphError is a top-level error of an answer.
type graphError struct {
	Message    string `json:"message"`
	Path       path   `json:"path"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// path is where in the answer an error happened: root is the first name, leaf
// the last.
type path struct{ root, leaf string }

// UnmarshalJSON reads a list of names and indices.
func (p *path) UnmarshalJSON(b []byte) error {
	var steps []json.RawMessage
	if err := json.Unmarshal(b, &steps); err != nil {
		return fmt.Errorf("read an error's path: %w", err)
	}
	if len(steps) > 0 {
		p.root, p.leaf = nameOf(steps[0]), nameOf(steps[len(steps)-1])
	}
	return nil
}

// nameOf returns a step of a path, or "" when it is an index.
func nameOf(step json.RawMessage) string {
	var name string
	if json.Unmarshal(step, &name) != nil {
		return ""
	}
	return name
}

// err returns what the error means to the service.
func (e graphError) err() error {
	code := e.Extensions.Code
	switch {
	case code == codeNotFound:
		return fmt.Errorf("%w: %s", platform.ErrNotFound, e.Message)
	case code == codeShopInactive:
		return fmt.Errorf("%w: %s", platform.ErrDisconnected, e.Message)
	case refusing[code], isStaticCheck(code):
		return &platform.Refusal{Code: strings.ToUpper(code), Message: e.Message}
	default:
		return fmt.Errorf("%w: %s %s", platform.ErrUnknown, code, e.Message)
	}
}

// refusal returns the error as a definite answer about one of several fields,
// and false when it is none.
func (e graphError) refusal() (*platform.Refusal, bool) {
	err := e.err()
	if r, ok := errors.AsType[*platform.Refusal](err); ok {
		return r, true
	}
	if errors.Is(err, platform.ErrNotFound) {
		return &platform.Refusal{Code: codeNotFound, Message: e.Message}, true
	}
	return nil, false
}

// isStaticCheck reports whether the code is one of the checks that come before
// anything is carried out: those, unlike all others, are in camel case.
func isStaticCheck(code string) bool { return code != "" && code[0] >= 'a' && code[0] <= 'z' }

// failure returns what the errors mean together: an outcome that is unknown
// outweighs one that is certain. It returns nil when there are none.
func failure(errs []graphError) error {
	var first error
	for _, e := range errs {
		err := e.err()
		if errors.Is(err, platform.ErrUnknown) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// statusFailure returns what an HTTP status other than 200 means. The body of
// such an answer is not read: it may be anybody's.
func statusFailure(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", platform.ErrDisconnected, errUnauthorized)
	case http.StatusPaymentRequired, http.StatusForbidden, http.StatusLocked:
		return fmt.Errorf("%w: HTTP status %d", platform.ErrDisconnected, status)
	}
	err := fmt.Errorf("%w: HTTP status %d", platform.ErrUnknown, status)
	if status < http.StatusInternalServerError {
		return lasting{err}
	}
	return err
}

// unknown wraps a cause that leaves the outcome at the platform unknown.
func unknown(cause error) error { return fmt.Errorf("%w: %w", platform.ErrUnknown, cause) }

// refused returns the first of a mutation's errors, and false when it has none.
func refused(errs []wire.UserError) (*platform.Refusal, bool) {
	if len(errs) == 0 {
		return nil, false
	}
	e := errs[0]
	return &platform.Refusal{Code: strings.ToUpper(e.Code), Field: strings.Join(e.Field, "."), Message: e.Message}, true
}
