package web

import (
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"testing/iotest"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestABodyThatSaysItIsTooLargeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	cut := errors.New("the client sends nothing")
	for name, test := range map[string]struct {
		length int64
		want   fault.Kind
	}{
		"a length over the limit is refused unread": {MaxBody + 1, fault.TooLarge},
		"a length at the limit is read":             {MaxBody, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("PUT", "/", io.NopCloser(iotest.ErrReader(cut)))
			r.ContentLength = test.length
			_, err := ReadBody(r)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != test.want {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}
