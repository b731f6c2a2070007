package webhook_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

// happen lets members earn points, or store credit those above 100, in one transaction.
func (w *world) happen(members ...int64) {
	w.Helper()
	w.pass(time.Millisecond)
	now := w.clock.Now()
	err := w.db.Update(w.Context(), w.here, func(tx *store.Tx) error {
		for _, m := range members {
			e, t := loyalty.Event{Kind: loyalty.PointsEarned, Customer: m, Record: m, At: now, Actor: activity.System}, webhook.Earned
			if m > 100 {
				e.Kind, t = loyalty.CreditsEarned, webhook.CreditsEarned
			}
			w.happened = append(w.happened, webhook.NewMessageID(w.here, m, t, now))
			if err := tx.PublishMemberEvents(w.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// read returns the customers of the events after a cursor, and the next cursor.
func (w *world) read(after string, limit int, types ...webhook.Type) (list []int64, next string, more bool) {
	w.Helper()
	p, err := w.Events(w.Context(), w.here, webhook.EventQuery{After: after, Limit: limit, Types: types})
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range p.Events {
		list = append(list, e.Customer)
	}
	return list, p.Next, p.More
}

// refused wants a cursor to be refused, and returns why.
func (w *world) refused(after string, kind fault.Kind) string {
	w.Helper()
	_, err := w.Events(w.Context(), w.here, webhook.EventQuery{After: after, Limit: 10})
	if !fault.Is(err, kind) {
		w.Fatalf("with the cursor %q: %v, want %s", after, err, kind)
	}
	return err.Error()
}

// stored returns how many messages are stored.
func (w *world) stored() (n int) {
	w.Helper()
	for _, id := range w.happened {
		if _, err := w.db.Webhooks().Message(w.Context(), w.here, id); err == nil {
			n++
		} else if !fault.Is(err, fault.NotFound) {
			w.Fatal(err)
		}
	}
	return n
}

func (w *world) wantAbout(got []int64, want ...int64) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("events about %v, want %v", got, want)
	}
}

func TestEventsAreKeptFromFirstCallOn(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.happen(1)
	if n := w.stored(); n != 0 {
		t.Errorf("%d messages are stored for a shop that reads none", n)
	}
	got, start, more := w.read("", 10)
	if w.wantAbout(got); start == "" || more {
		t.Errorf("the first answer has the cursor %q, more %t", start, more)
	}
	w.happen(2, 3)
	w.happen(4)
	got, next, _ := w.read(start, 10)
	w.wantAbout(got) // they have no body yet
	if next != start {
		t.Errorf("nothing was read and the cursor is another one")
	}
	w.work()
	got, next, more = w.read(start, 2)
	if w.wantAbout(got, 2, 3); !more {
		t.Error("there is no more after the first page")
	}
	got, last, more := w.read(next, 2)
	if w.wantAbout(got, 4); more {
		t.Error("there is more after the last page")
	}
	got, same, more := w.read(last, 2)
	if w.wantAbout(got); same != last || more {
		t.Errorf("at the end the cursor changes from %q to %q, more %t", last, same, more)
	}
	got, _, _ = w.read("", 10)
	w.wantAbout(got, 2, 3, 4)
	w.happen(5)
	w.work()
	got, _, _ = w.read(last, 10)
	w.wantAbout(got, 5)
}

func TestEventsAreFilteredByType(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, start, _ := w.read("", 10)
	w.happen(1, 101, 2, 102, 103)
	w.work()
	got, next, more := w.read(start, 1, webhook.Earned)
	if w.wantAbout(got, 1); !more {
		t.Error("there is no more")
	}
	got, next, more = w.read(next, 10, webhook.Earned)
	if w.wantAbout(got, 2); more {
		t.Error("there is more")
	}
	got, after, more := w.read(next, 10)
	if w.wantAbout(got); more || after != next {
		t.Error("the cursor of a page stands before events of other types that it passed over")
	}
	got, _, _ = w.read(start, 10, webhook.SignUp)
	w.wantAbout(got)
}

func TestEventWithoutRecordHasNoData(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, start, _ := w.read("", 10)
	w.data = func(m webhook.Message) ([]byte, error) {
		switch m.Customer {
		case 1:
			return nil, fault.New(fault.NotFound, "the member is gone")
		case 2:
			return nil, fault.New(fault.Unavailable, "the platform does not answer")
		}
		return []byte(`{}`), nil
	}
	w.happen(2, 1, 3)
	w.happen(2, 4)
	w.work()
	got, next, _ := w.read(start, 10)
	w.wantAbout(got, 1, 3, 4) // the second one about customer 2 waits for the first one
	p, err := w.Events(t.Context(), w.here, webhook.EventQuery{After: start, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := p.Events[0].Data(); err != nil || string(data) != "null" {
		t.Errorf("data %s, %v", data, err)
	}
	w.data = func(webhook.Message) ([]byte, error) { return []byte(`{"a":1}`), nil }
	w.pass(time.Minute)
	w.work()
	got, _, _ = w.read(next, 10)
	w.wantAbout(got, 2, 2)
	if p, err = w.Events(t.Context(), w.here, webhook.EventQuery{After: next, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if data, err := p.Events[0].Data(); err != nil || string(data) != `{"a":1}` {
		t.Errorf("data %s, %v", data, err)
	}
	want := `{"type":"loyalty.earned","timestamp":"2026-01-31T12:00:00.001Z","sequence":1,"cause":{"source":"SYSTEM_EVENT","by":null},"data":{"a":1}}`
	if string(p.Events[0].Body) != want {
		t.Errorf("body %s\nwant %s", p.Events[0].Body, want)
	}
}

func TestUnknownCursorIsInvalid(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.refused("MS4wLg", fault.Invalid) // this shop never read
	_, start, _ := w.read("", 10)
	w.happen(1, 2)
	w.work()
	_, next, _ := w.read(start, 1)
	encoded := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	raw, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"x", "1.1.", next + "=", next[1:], encoded("0.1."), encoded("1.-1."), encoded("1.3."), encoded("2.1."), encoded("1.1"), encoded("01.1."), encoded("1.1.AAAAAAAA"),
		encoded(strings.Replace(string(raw), "1.1.", "1.2.", 1)), strings.Repeat("A", 10_000),
	} {
		w.refused(text, fault.Invalid)
	}
}

func TestEventsExpireAfterThirtyDays(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, start, _ := w.read("", 10)
	w.happen(1)
	w.work()
	_, first, _ := w.read(start, 10)
	for range 29 {
		w.pass(24 * time.Hour)
		w.read(first, 10)
	}
	w.happen(2)
	w.pass(24 * time.Hour)
	w.work()
	if why := w.refused(start, fault.Gone); !strings.Contains(why, "without 'after'") {
		t.Errorf("refused with %q", why)
	}
	got, _, _ := w.read(first, 10)
	w.wantAbout(got, 2)
	got, _, _ = w.read("", 10)
	w.wantAbout(got, 2)
	if n := w.stored(); n != 1 {
		t.Errorf("%d messages are stored, want 1", n)
	}
}

func TestEventsThatNobodyReadsEnd(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, start, _ := w.read("", 10)
	w.happen(1)
	w.pass(15 * 24 * time.Hour)
	w.happen(2)
	w.work()
	_, last, _ := w.read(start, 10)
	w.pass(webhook.Retention - time.Hour - time.Second)
	w.read(last, 10) // still
	w.pass(webhook.Retention - time.Hour)
	w.happen(3)
	w.refused(last, fault.Gone)
	w.pass(time.Hour)
	w.happen(4)
	if n := w.stored(); n != 3 {
		t.Errorf("%d messages are stored, want 3: none after the events have ended", n)
	}
	w.work()
	w.work()
	if n := w.stored(); n != 0 {
		t.Errorf("%d messages are stored", n)
	}
	if shops, err := w.db.Shops().EndedFeedShops(t.Context(), w.clock.Now(), 10); err != nil || len(shops) != 0 {
		t.Errorf("to clean: %v, %v", shops, err)
	}
	got, again, _ := w.read("", 10)
	w.wantAbout(got)
	w.happen(5)
	w.work()
	got, _, _ = w.read(again, 10)
	w.wantAbout(got, 5)
	if why := w.refused(last, fault.Gone); !strings.Contains(why, "no events were read for 30 days") {
		t.Errorf("refused with %q", why)
	}
}

// A shop that begins again before its old events are removed does not see them.
func TestEventsBeginAgainBeforeOldOnesAreRemoved(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.read("", 10)
	w.happen(1)
	w.work()
	w.happen(2) // never placed
	w.pass(webhook.Retention)
	_, again, _ := w.read("", 10)
	w.happen(3)
	w.work()
	got, _, _ := w.read(again, 10)
	w.wantAbout(got, 3)
	got, _, _ = w.read("", 10)
	w.wantAbout(got, 3)
	if n := w.stored(); n != 1 {
		t.Errorf("%d messages are stored, want 1", n)
	}
}
