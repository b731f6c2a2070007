package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestRepeatedRequestGetsFirstAnswer(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		s := newRepeating(t)
		first := s.ask(request(method, changePath, `{"a":1}`, "X-Request-Id", "one"))
		again := s.ask(request(method, changePath, `{"a":1}`, "X-Request-Id", "two"))
		if first.Code != 200 || first.Body.String() != "{\"run\":1}\n" || first.Header().Get(replayedHeader) != "" {
			t.Errorf("%s: first %d %s %v", method, first.Code, first.Body, first.Header())
		}
		if again.Code != 200 || again.Body.String() != first.Body.String() || again.Header().Get(replayedHeader) != "true" {
			t.Errorf("%s: again %d %s %v", method, again.Code, again.Body, again.Header())
		}
		for _, name := range []string{"Content-Type", "Location"} {
			if got := again.Header().Get(name); got == "" || got != first.Header().Get(name) {
				t.Errorf("%s: %s is %q, and was %q", method, name, got, first.Header().Get(name))
			}
		}
		if got := again.Header(); got.Get("X-Request-Id") != "two" || got.Get("RateLimit-Remaining") != "98" {
			t.Errorf("%s: what belongs to the request is repeated: %v", method, got)
		}
		if want := time.Date(2025, 2, 1, 12, 0, 0, 0, time.UTC); !s.store.until.Equal(want) {
			t.Errorf("%s: kept until %s, want %s", method, s.store.until, want)
		}
	}
}

func TestRequestCountsAsRepeatedWhenKeyPathAndBodyMatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second *http.Request
		status int
		runs   int
	}{
		"the same request":                           {request("PUT", changePath, `{"a":1}`), 200, 1},
		"a slash at the end changes nothing":         {request("PUT", changePath+"/", `{"a":1}`), 200, 1},
		"the API key in the query changes nothing":   {request("PUT", changePath+"?api_key=full", `{"a":1}`, "X-Api-Key", ""), 200, 1},
		"another Idempotency-Key":                    {request("PUT", changePath, `{"a":1}`, repeatHeader, "l"), 200, 2},
		"no Idempotency-Key":                         {request("PUT", changePath, `{"a":1}`, repeatHeader, ""), 200, 2},
		"the letters' case counts":                   {request("PUT", changePath, `{"a":1}`, repeatHeader, "K"), 200, 2},
		"another API key":                            {request("PUT", changePath, `{"a":1}`, "X-Api-Key", "other"), 200, 2},
		"another method":                             {request("POST", changePath, `{"a":1}`), 200, 2},
		"another path":                               {request("PUT", "/things/2", `{"a":1}`), 200, 2},
		"a request that changes nothing is not kept": {request("GET", changePath, `{"a":1}`), 200, 2},
		"another body":                               {request("PUT", changePath, `{"a":2}`), 422, 1},
		"no body":                                    {request("PUT", changePath, ""), 422, 1},
		"another query":                              {request("PUT", changePath+"?size=1", `{"a":1}`), 422, 1},
		"another query that is not valid":            {request("PUT", changePath+"?size=x", `{"a":1}`), 422, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t)
			s.put()
			w := s.ask(test.second)
			if w.Code != test.status || s.runs != test.runs {
				t.Errorf("answered %d after %d runs, want %d and %d: %s", w.Code, s.runs, test.status, test.runs, w.Body)
			}
			if replayed := w.Header().Get(replayedHeader) != ""; replayed != (test.status == 200 && test.runs == 1) {
				t.Errorf("%s is %q", replayedHeader, w.Header().Get(replayedHeader))
			}
			if w.Code == 422 && (!strings.Contains(w.Body.String(), `"errorKey":"idempotencyKeyReused"`) ||
				!strings.Contains(w.Body.String(), `"error":"Unprocessable Entity"`) || !strings.Contains(w.Body.String(), `"params":"Idempotency-Key"`)) {
				t.Errorf("body %s", w.Body)
			}
		})
	}
}

// A caller that hangs up does not leave its change half done.
func TestChangeCompletesWhenCallerDisconnects(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"k", ""} {
		ctx, hangUp := context.WithCancel(t.Context())
		var left time.Duration
		s := newRepeating(t, func(s *repeating) {
			s.do = func(ctx context.Context) error {
				hangUp()
				until, _ := ctx.Deadline()
				left = time.Until(until)
				return ctx.Err()
			}
		})
		first := s.ask(request("PUT", changePath, `{"a":1}`, repeatHeader, key).WithContext(ctx))
		if first.Code != 200 || left <= 0 || left > idempotency.Lease {
			t.Errorf("with key %q: answered %d, with %s to go", key, first.Code, left)
		}
		if again := s.put(repeatHeader, key); key != "" && (again.Header().Get(replayedHeader) != "true" || s.runs != 1) {
			t.Errorf("the repetition was carried out: %d runs", s.runs)
		}
	}
}

// What would be done twice is asked for once: an answer that leaves open whether it was
// done is given again, and does not say when to come again.
func TestOnceOperationInDoubtIsNotRunAgain(t *testing.T) {
	t.Parallel()
	doubt := fault.New(fault.Unavailable, "who knows").Code(fault.InDoubt)
	for name, test := range map[string]struct {
		once bool
		err  error
		runs int
	}{
		"in doubt":                     {true, doubt, 1},
		"a bug of ours":                {true, errors.New("bug"), 1},
		"nothing was done":             {true, fault.New(fault.Unavailable, "the platform does not answer").Code("platformUnavailable"), 2},
		"another change is in the way": {true, fault.New(fault.Conflict, "busy"), 2},
		"in doubt, of one that is safe to do again": {false, doubt, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t, func(s *repeating) {
				s.once = test.once
				s.do = func(context.Context) error { return test.err }
			})
			first, again := s.put(), s.put()
			if s.runs != test.runs || again.Code != first.Code {
				t.Errorf("answered %d and %d after %d runs, want %d", first.Code, again.Code, s.runs, test.runs)
			}
			if advised := first.Header().Get("Retry-After") != ""; advised != (test.runs == 2) {
				t.Errorf("Retry-After is %q", first.Header().Get("Retry-After"))
			}
		})
	}
}

func TestRepeatedRequestMayReorderQuery(t *testing.T) {
	t.Parallel()
	s := newRepeating(t)
	s.ask(request("PUT", changePath+"?size=1&x=%41", `{"a":1}`))
	if w := s.ask(request("PUT", changePath+"?x=A&size=1", `{"a":1}`)); w.Code != 200 || s.runs != 1 {
		t.Errorf("answered %d after %d runs", w.Code, s.runs)
	}
}

func TestIdempotencyKeyInQueryIsIgnored(t *testing.T) {
	t.Parallel()
	s := newRepeating(t)
	r := request("PUT", changePath+"?Idempotency-Key=a&Idempotency-Key=b", `{"a":1}`, repeatHeader, "")
	if w := s.ask(r); w.Code != 200 || s.store.claims != 0 {
		t.Errorf("answered %d after %d claims: %s", w.Code, s.store.claims, w.Body)
	}
}

func TestKeptAnswersOfLinesAreSeparate(t *testing.T) {
	t.Parallel()
	s := newRepeating(t)
	s.put()
	s.handler = s.on(shop.Memberships)
	if w := s.put(); w.Header().Get(replayedHeader) != "" || s.runs != 2 {
		t.Errorf("the other line's answer: %d after %d runs", w.Code, s.runs)
	}
}

func TestOnlyFinalAnswersAreKept(t *testing.T) {
	t.Parallel()
	fails := func(kind fault.Kind) func(*repeating) {
		return func(s *repeating) { s.do = func(context.Context) error { return fault.New(kind, "no") } }
	}
	for name, test := range map[string]struct {
		change func(*repeating)
		status int
		kept   bool
	}{
		"a success":                         {func(*repeating) {}, 200, true},
		"a rule that forbids it":            {fails(fault.FailedPrecondition), 400, true},
		"what the operation calls invalid":  {fails(fault.Invalid), 400, true},
		"something that does not exist":     {fails(fault.NotFound), 404, true},
		"a conflict asks to come again":     {fails(fault.Conflict), 409, false},
		"a caller who is not authenticated": {fails(fault.Unauthenticated), 401, false},
		"a caller who may not":              {fails(fault.Forbidden), 403, false},
		"a quota that is used up":           {fails(fault.RateLimited), 429, false},
		"a bug":                             {fails(fault.Internal), 500, false},
		"something that does not answer":    {fails(fault.Unavailable), 503, false},
		"a panic":                           {func(s *repeating) { s.do = func(context.Context) error { panic("oh") } }, 500, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t, test.change)
			first, again := s.put(), s.put()
			if first.Code != test.status || again.Code != test.status {
				t.Errorf("answered %d and %d, want %d", first.Code, again.Code, test.status)
			}
			runs := 2
			if test.kept {
				runs = 1
				if first.Body.String() != again.Body.String() {
					t.Errorf("answered %s and %s", first.Body, again.Body)
				}
			} else if len(s.store.records) != 0 {
				t.Error("the claim was not released")
			}
			if s.runs != runs {
				t.Errorf("carried out %d times, want %d", s.runs, runs)
			}
		})
	}
}

func TestLargeAnswerIsKept(t *testing.T) {
	t.Parallel()
	if !keeps(idempotency.Answer{Status: 201, Body: make([]byte, 8*MaxBody)}) {
		t.Error("a large answer is not kept")
	}
}

// twice sends the API key of a request twice.
func twice(r *http.Request) *http.Request {
	r.Header.Add("X-Api-Key", r.Header.Get("X-Api-Key"))
	return r
}

func TestRefusalBeforeOperationIsNotKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wrong  *http.Request
		status int
	}{
		"a path that is not valid":      {request("PUT", "/things/x", `{"a":1}`), 400},
		"a query that is not valid":     {request("PUT", changePath+"?size=x", `{"a":1}`), 400},
		"a query that is not readable":  {request("PUT", changePath+"?size=%zz", `{"a":1}`), 400},
		"a body that is not an object":  {request("PUT", changePath, "[]"), 400},
		"a body that is not there":      {request("PUT", changePath, " "), 400},
		"a body that is too large":      {request("PUT", changePath, strings.Repeat(" ", MaxBody+1)), 413},
		"a missing scope":               {request("PUT", changePath, `{"a":1}`, "X-Api-Key", "none"), 403},
		"an unknown API key":            {request("PUT", changePath, `{"a":1}`, "X-Api-Key", "unknown"), 401},
		"no API key":                    {request("PUT", changePath, `{"a":1}`, "X-Api-Key", ""), 401},
		"two API keys":                  {twice(request("PUT", changePath, `{"a":1}`)), 401},
		"a path that is not there":      {request("PUT", "/nothing", `{"a":1}`), 404},
		"a method that is not possible": {request("PATCH", changePath, `{"a":1}`), 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t)
			if w := s.ask(test.wrong); w.Code != test.status || w.Header().Get(replayedHeader) != "" {
				t.Errorf("answered %d, want %d: %s", w.Code, test.status, w.Body)
			}
			if len(s.store.records) != 0 || s.runs != 0 {
				t.Errorf("%d records after %d runs", len(s.store.records), s.runs)
			}
			if w := s.put(); w.Code != 200 || s.runs != 1 {
				t.Errorf("the request put right was answered %d after %d runs: %s", w.Code, s.runs, w.Body)
			}
		})
	}
}

func TestRequestIsCheckedBeforeIdempotencyKeyIsClaimed(t *testing.T) {
	t.Parallel()
	t.Run("the rate limit counts before the first answer is given again", func(t *testing.T) {
		t.Parallel()
		s := newRepeating(t, func(s *repeating) { s.burst = 1 })
		if first, again := s.put(), s.put(); first.Code != 200 || again.Code != 429 {
			t.Errorf("answered %d and %d", first.Code, again.Code)
		}
	})
	for name, test := range map[string]struct {
		r      *http.Request
		status int
	}{
		"the API key":         {request("PUT", "/things/x", "", "X-Api-Key", "unknown", repeatHeader, "a b"), 401},
		"the scope":           {request("PUT", "/things/x", "", "X-Api-Key", "none", repeatHeader, "a b"), 403},
		"the Idempotency-Key": {request("PUT", "/things/x", "", repeatHeader, "a b"), 400},
	} {
		t.Run(name+" is checked before what comes after it", func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t)
			w := s.ask(test.r)
			if w.Code != test.status || s.store.claims != 0 {
				t.Errorf("answered %d after %d claims, want %d: %s", w.Code, s.store.claims, test.status, w.Body)
			}
			if isKeys := strings.Contains(w.Body.String(), "idempotencyKeyInvalid"); isKeys != (test.status == 400) {
				t.Errorf("body %s", w.Body)
			}
		})
	}
}

func TestInvalidIdempotencyKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"an empty one":          {""},
		"one that is long":      {strings.Repeat("k", idempotency.MaxKey+1)},
		"one with a space":      {"a b"},
		"one that is not ASCII": {"ö"},
		"two":                   {"a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepeating(t)
			r := request("PUT", changePath, `{"a":1}`)
			r.Header[repeatHeader] = values
			w := s.ask(r)
			if w.Code != 400 || s.runs != 0 || !strings.Contains(w.Body.String(), `"errorKey":"idempotencyKeyInvalid"`) || !strings.Contains(w.Body.String(), `"params":"Idempotency-Key"`) {
				t.Errorf("answered %d after %d runs: %s", w.Code, s.runs, w.Body)
			}
		})
	}
}

func TestRepeatedRequestConflictsWhileFirstRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		s := newRepeating(t, func(s *repeating) {
			s.do = func(context.Context) error { <-finish; return nil }
		})
		var first *httptest.ResponseRecorder
		go func() { first = s.put() }()
		synctest.Wait() // the first is in its operation
		second := s.put()
		if second.Code != 409 || second.Header().Get("Retry-After") != "1" || !strings.Contains(second.Body.String(), `"errorKey":"idempotencyKeyInUse"`) {
			t.Errorf("answered %d %v: %s", second.Code, second.Header(), second.Body)
		}
		if other := s.ask(request("PUT", changePath, `{"a":2}`)); other.Code != 422 {
			t.Errorf("another request with the key answered %d", other.Code)
		}
		close(finish)
		synctest.Wait()
		if third := s.put(); third.Code != 200 || third.Body.String() != first.Body.String() || s.runs != 1 {
			t.Errorf("afterwards answered %d after %d runs: %s", third.Code, s.runs, third.Body)
		}
	})
}

func TestAnswerIsKeptWhenClientDisconnects(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	s := newRepeating(t, func(s *repeating) {
		s.do = func(context.Context) error { leave(); return nil }
	})
	s.ask(request("PUT", changePath, `{"a":1}`).WithContext(ctx))
	if w := s.put(); w.Header().Get(replayedHeader) != "true" || s.runs != 1 {
		t.Errorf("answered %d after %d runs", w.Code, s.runs)
	}
}

func TestAnswerIsSentAndErrorLoggedWhenKeepingFails(t *testing.T) {
	t.Parallel()
	s := newRepeating(t, func(s *repeating) { s.store.err = errors.New("the disk is full") })
	if w := s.put(); w.Code != 200 || !strings.Contains(s.log.String(), "the disk is full") {
		t.Errorf("answered %d, log %s", w.Code, s.log.String())
	}
	if w := s.put(); w.Code != 409 || s.runs != 1 {
		t.Errorf("before the claim ends, answered %d after %d runs", w.Code, s.runs)
	}
}

func TestBodyInPiecesIsReadForFingerprintAndOperation(t *testing.T) {
	t.Parallel()
	s := newRepeating(t)
	r := request("PUT", changePath, "")
	r.Body = io.NopCloser(iotest.OneByteReader(strings.NewReader(`{"a":1}`)))
	if w := s.ask(r); w.Code != 200 {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
	if w := s.put(); w.Header().Get(replayedHeader) != "true" {
		t.Errorf("the same body in one piece answered %d: %s", w.Code, w.Body)
	}
}
