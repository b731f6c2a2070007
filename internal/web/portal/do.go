package portal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	do "github.com/perennialhq/perennial/internal/domain/portal"
)

// Do carries out a form once, and leads its reader to the screen that work names: a path below that
// of the portal, with done=NAME in its query for a sentence in [Room.Said]. A form that is sent
// again leads there too. Name tells the request from all others of the store.
func (v Visit) Do(w http.ResponseWriter, r *http.Request, work func(ctx context.Context, name string) (to string, err error)) error {
	f := do.Form{ID: r.PostForm.Get("request_id"), Action: r.URL.Path, Values: r.PostForm}
	to, err := v.repeats.Once(r.Context(), v.Caller(r), f, work)
	if err != nil {
		return err
	}
	return v.renderer.forward(w, v.View, v.View.At(to))
}

// Version returns the version of the contract that the reader of a form has seen; 0: the form does
// not say.
func (v Visit) Version(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.PostForm.Get("version"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Typed returns what a form was sent with, or what a field has at first.
func Typed(r *http.Request, field, first string) string {
	if r.Method == http.MethodPost {
		return r.PostForm.Get(field)
	}
	return first
}

// Change carries out a form about the contract that its path names, and leads to the contract's screen,
// which says what was done. When that fails in a way that its reader can do something about, again
// shows the form again.
func (v Visit) Change(w http.ResponseWriter, r *http.Request, work func(context.Context, do.ContractRef) (done string, err error), again func(error) error) error {
	id, err := ContractOf(r)
	if err != nil {
		return err
	}
	err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		done, err := work(ctx, do.ContractRef{ID: id, Version: v.Version(r)})
		return fmt.Sprintf("/s/%d?done=%s", id, done), err
	})
	return v.Again(err, func() error { return again(err) })
}

// Again has a form shown again by show when it failed with err in a way that its reader can do
// something about, and returns err otherwise. Without an error it does nothing.
func (v Visit) Again(err error, show func() error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		switch f.Kind {
		case fault.Invalid, fault.FailedPrecondition, fault.Conflict, fault.RateLimited:
			return show()
		}
	}
	return err
}
