package call

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer that is no success. Match it with errors.AsType.
type Error struct {
	Status     int      `json:"status"`     // HTTP status
	Type       string   `json:"type"`       // stable URI of the kind of problem
	Title      string   `json:"title"`      // the kind of problem in words
	Detail     string   `json:"detail"`     // what went wrong this time
	Key        string   `json:"errorKey"`   // stable code of the broken rule
	EntityName string   `json:"entityName"` // what the problem is about
	Params     string   `json:"params"`     // the parameter or field at fault
	Path       string   `json:"path"`       // path of the request
	RequestID  string   `json:"requestId"`  // as in the service's log
	Required   []string `json:"required"`   // scopes that the operation needs, when the key lacks one

	RetryAfter time.Duration `json:"-"` // when to try again; 0: the service does not say
}

// Error says what went wrong.
func (e *Error) Error() string {
	return fmt.Sprintf("%d %s: %s (request %s)", e.Status, e.Key, e.Detail, e.RequestID)
}

// failure reads an answer that is no success, from the service or from a proxy before it.
func failure(response *http.Response, text []byte) error {
	e := &Error{Path: response.Request.URL.Path, RequestID: response.Header.Get("X-Request-Id")}
	if json.Unmarshal(text, e) != nil || e.Detail == "" {
		e.Title, e.Detail = http.StatusText(response.StatusCode), string(text[:min(len(text), 200)])
	}
	e.Status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// ID is the number of an object or its graph id, such as gid://shopify/Order/1.
type ID string

// UnmarshalJSON reads a number or a text.
func (id *ID) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err == nil {
		*id = ID(number)
		return nil
	}
	return json.Unmarshal(text, (*string)(id))
}
