package webhook_test

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// replay sends what happened since an instant again and checks how many these are.
func (w *world) replay(e webhook.Endpoint, since time.Time, want int) {
	w.Helper()
	if n, err := w.ReplaySince(w.Context(), w.here, e.ID, since); err != nil || n != want {
		w.Fatalf("%d messages are sent again, %v; want %d", n, err, want)
	}
}

func TestMessagesSinceInstantAreSentAgainInOrder(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e, other := w.listener("one"), w.listener("other")
	first := "one " + string(w.owe(1, e, other))
	w.pass(time.Second)
	since := w.clock.Now()
	var want []string
	for about := int64(2); about < 5; about++ {
		want = append(want, "one "+string(w.owe(about, e)))
		w.work()
		w.pass(time.Second)
	}
	if got := w.got(); !slices.Contains(got, first) {
		t.Fatalf("sent %v", got)
	}
	body := func() []byte {
		m, err := w.db.Webhooks().Message(t.Context(), w.here, webhook.MessageID(want[0][len("one "):]))
		if err != nil {
			t.Fatal(err)
		}
		return m.Body
	}
	before := body()
	w.data = func(webhook.Message) ([]byte, error) { return []byte(`"later"`), nil }
	w.replay(e, since, 3)
	want = append(want, "one "+string(w.owe(5, e))) // it happens before they are sent
	w.restart()
	w.work()
	if got := w.got(); !slices.Equal(got, want) {
		t.Errorf("sent %v\nwant %v", got, want)
	}
	if string(body()) != string(before) {
		t.Error("a message that is sent again has another body")
	}
	w.replay(e, w.clock.Now().Add(-webhook.Retention), 5)
	w.replay(other, since, 0)
	w.work()
	if got := w.got(); len(got) != 5 {
		t.Errorf("sent %v, want 5", got)
	}
}

func TestReplaySinceRefusesWhatItCannotSend(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("one")
	for name, c := range map[string]struct {
		since time.Time
		of    webhook.EndpointID
		kind  fault.Kind
	}{
		"in the future":       {w.clock.Now().Add(time.Millisecond), e.ID, fault.Invalid},
		"more than 30 days":   {w.clock.Now().Add(-webhook.Retention - time.Millisecond), e.ID, fault.Invalid},
		"an unknown endpoint": {w.clock.Now(), e.ID + 1, fault.NotFound},
	} {
		if _, err := w.ReplaySince(t.Context(), w.here, c.of, c.since); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
	off := false
	if _, err := w.Change(t.Context(), w.here, e.ID, webhook.Edit{Enabled: &off, Actor: activity.System}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ReplaySince(t.Context(), w.here, e.ID, w.clock.Now()); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("to an endpoint that is disabled: %v", err)
	}
}
