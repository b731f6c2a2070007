package shopify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// line is a network on which each request meets what stands in its turn, the
// last for good. It keeps what was asked: the operations and their drafts.
type line struct {
	steps []wireFunc
	asked []string
	draft []string
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var sent struct {
		Query     string
		Variables struct{ Draft string }
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, err
	}
	step := l.steps[min(len(l.asked), len(l.steps)-1)]
	l.asked = append(l.asked, regexp.MustCompile(`\w+ (\w+)`).FindStringSubmatch(sent.Query)[1])
	if d := sent.Variables.Draft; d != "" {
		l.draft = append(l.draft, d[strings.LastIndex(d, "/")+1:])
	}
	return step(r)
}

func online(steps ...wireFunc) (*Client, *line) {
	l := &line{steps: steps}
	return New(Options{HTTP: &http.Client{Transport: l}}), l
}

// hangs never answers.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

const shopBody = `{"data":{"shop":{"id":"gid://shopify/Shop/1"}}}`

func TestQueryIsRepeatedWhenAnswerIsLost(t *testing.T) {
	t.Parallel()
	lost, found := loses(io.EOF), answers(200, shopBody)
	rows := []struct {
		name   string
		person bool
		steps  []wireFunc
		sent   int
		want   func(error) bool
		about  time.Duration // that it takes; never more than half as much again
	}{
		{"a person never hears of one lost connection", true, []wireFunc{lost, found}, 2, is(nil), 50 * time.Millisecond},
		{"three failures of any kind are borne", true, []wireFunc{answers(503, ``), answers(200, `{"data":{"sh`), answers(502, `<html>`), found}, 4, is(nil), 600 * time.Millisecond},
		{"a page of HTML and an empty answer are failures", true, []wireFunc{answers(200, `<html>`), answers(200, ``), found}, 3, is(nil), 200 * time.Millisecond},
		{"an internal error is one, too", true, []wireFunc{answers(200, topLevel("INTERNAL_SERVER_ERROR")), found}, 2, is(nil), 50 * time.Millisecond},
		{"four failures are an error", true, []wireFunc{lost}, 4, is(platform.ErrUnknown), 600 * time.Millisecond},
		{"a lost answer is an error at once in the background", false, []wireFunc{lost, found}, 1, is(platform.ErrUnknown), 0},
		{"a refusal is an answer", true, []wireFunc{answers(200, topLevel("ACCESS_DENIED"))}, 1, refusal("ACCESS_DENIED"), 0},
		{"a refusal after a lost answer is one, too", true, []wireFunc{lost, answers(200, topLevel("ACCESS_DENIED"))}, 2, refusal("ACCESS_DENIED"), 50 * time.Millisecond},
		{"a connection that is gone is an answer", true, []wireFunc{answers(401, ``)}, 1, is(platform.ErrDisconnected), 0},
		{"a page that is nowhere will be nowhere again", true, []wireFunc{answers(404, ``)}, 1, is(platform.ErrUnknown), 0},
		{"an answer that takes too long is waited for twice", true, []wireFunc{hangs}, 2, is(platform.ErrUnknown), 2 * DefaultTimeout},
		{"no request waits that long after another failure", true, []wireFunc{lost, hangs}, 2, is(platform.ErrUnknown), DefaultTimeout},
		{"being throttled after a lost answer is waited for", true, []wireFunc{lost, answers(429, ``), found}, 3, is(nil), 54 * time.Millisecond},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if row.person {
					ctx = platform.Interactive(ctx)
				}
				c, l := online(row.steps...)
				before := time.Now()
				if _, err := c.Store(ctx, demo); !row.want(err) {
					t.Errorf("got %v", err)
				}
				if len(l.asked) != row.sent {
					t.Errorf("sent %d times, want %d", len(l.asked), row.sent)
				}
				if took := time.Since(before); took < row.about/2 || took > row.about+row.about/2 {
					t.Errorf("it took %v, want about %v", took, row.about)
				}
			})
		})
	}
}

func TestMutationIsRepeatedOnlyWhenIdempotent(t *testing.T) {
	t.Parallel()
	usd := money.Amount{Minor: 100, Currency: "USD"}
	changes := map[string]func(context.Context, *Client) error{
		"a charge": func(ctx context.Context, c *Client) error {
			_, err := c.Charge(ctx, demo, []platform.Charge{{CycleRef: platform.CycleRef{Contract: 1, Index: 1}, Key: "k"}})
			return err
		},
		"a new contract": func(ctx context.Context, c *Client) error {
			_, err := c.CreateContract(ctx, demo, platform.NewContract{Customer: 1, Currency: "USD", Edit: platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(1)), Quantity: new(1), Price: &usd}}}})
			return err
		},
		"a date": func(ctx context.Context, c *Client) error { return c.SetNextBillingDate(ctx, demo, 1, time.Unix(0, 0)) },
		"an e-mail": func(ctx context.Context, c *Client) error {
			return c.SendPaymentUpdate(ctx, demo, "gid://shopify/CustomerPaymentMethod/a")
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, l := online(loses(io.EOF))
			if err := change(platform.Interactive(t.Context()), c); !errors.Is(err, platform.ErrUnknown) || len(l.asked) != 1 {
				t.Errorf("got %v after %d requests, want ErrUnknown after one", err, len(l.asked))
			}
		})
	}
}

func TestCancelledCallerSendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(platform.Interactive(t.Context()), 10*time.Millisecond)
		defer cancel()
		c, l := online(loses(io.EOF))
		if _, err := c.Store(ctx, demo); !errors.Is(err, platform.ErrUnknown) || len(l.asked) != 1 {
			t.Errorf("got %v after %d requests, want ErrUnknown after one", err, len(l.asked))
		}
	})
}

func draftBody(id string) wireFunc {
	return answers(200, `{"data":{"draft":{"draft":{"id":"gid://shopify/SubscriptionDraft/`+id+`","originalContract":{"revisionId":"7"}},"userErrors":[]}}}`)
}

func doneBody(status string) wireFunc {
	return answers(200, `{"data":{"done":{"contract":`+contractAnswer(status)+`,"userErrors":[]}}}`)
}

func refusedBody(code string) wireFunc {
	return answers(200, `{"data":{"done":{"contract":null,"userErrors":[{"code":"`+code+`","field":null,"message":"no"}]}}}`)
}

func readBody(status string) wireFunc {
	return answers(200, `{"data":{"subscriptionContract":`+contractAnswer(status)+`}}`)
}

func TestConflictingEditStartsAgain(t *testing.T) {
	t.Parallel()
	lost := loses(io.EOF)
	changed := answers(200, opAnswers(1))
	rows := []struct {
		name     string
		revision uint64
		steps    []wireFunc
		want     func(error) bool
		asked    []string
		drafts   []string
	}{
		{"a draft that may have been opened is not used", 0, []wireFunc{lost, draftBody("2"), changed, doneBody("ACTIVE")}, is(nil),
			[]string{"OpenDraft", "OpenDraft", "ChangeDraft", "CommitDraft"}, []string{"2", "2"}},
		{"an opening that stays lost is an error in the end", 0, []wireFunc{lost}, is(platform.ErrUnknown),
			[]string{"OpenDraft", "OpenDraft", "OpenDraft", "OpenDraft"}, nil},
		{"a draft that may have been changed is not used", 0, []wireFunc{draftBody("1"), lost, draftBody("2"), changed, doneBody("ACTIVE")}, is(nil),
			[]string{"OpenDraft", "ChangeDraft", "OpenDraft", "ChangeDraft", "CommitDraft"}, []string{"1", "2", "2"}},
		{"a draft that may have been committed is committed again", 0, []wireFunc{draftBody("1"), changed, lost, answers(500, ``), doneBody("ACTIVE")}, is(nil),
			[]string{"OpenDraft", "ChangeDraft", "CommitDraft", "CommitDraft", "CommitDraft"}, []string{"1", "1", "1", "1"}},
		{"a draft that was committed is read", 0, []wireFunc{draftBody("1"), changed, lost, refusedBody("COMMITTED"), lost, readBody("ACTIVE")}, is(nil),
			[]string{"OpenDraft", "ChangeDraft", "CommitDraft", "CommitDraft", "Detail", "Detail"}, []string{"1", "1", "1"}},
		{"a refusal after a lost answer is certain", 0, []wireFunc{draftBody("1"), changed, lost, refusedBody("STALE_CONTRACT")}, refusal(platform.CodeStale),
			[]string{"OpenDraft", "ChangeDraft", "CommitDraft", "CommitDraft"}, []string{"1", "1", "1"}},
		{"nothing else after a lost answer is certain", 0, []wireFunc{draftBody("1"), changed, lost, answers(401, ``)}, is(platform.ErrUnknown),
			[]string{"OpenDraft", "ChangeDraft", "CommitDraft", "CommitDraft"}, []string{"1", "1", "1"}},
		{"a draft of the revision is committed", 7, []wireFunc{draftBody("1"), changed, doneBody("ACTIVE")}, is(nil),
			[]string{"OpenDraft", "ChangeDraft", "CommitDraft"}, []string{"1", "1"}},
		{"a draft of another revision is left as it is", 6, []wireFunc{draftBody("1")}, refusal(platform.CodeStale), []string{"OpenDraft"}, nil},
		{"a draft that was begun again is checked, too", 6, []wireFunc{lost, draftBody("2")}, refusal(platform.CodeStale), []string{"OpenDraft", "OpenDraft"}, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, l := online(row.steps...)
				_, err := c.EditContract(platform.Interactive(t.Context()), demo, 1, platform.Edit{Revision: row.revision, Note: new("n")})
				if !row.want(err) {
					t.Errorf("got %v", err)
				}
				if !slices.Equal(l.asked, row.asked) || !slices.Equal(l.draft, row.drafts) {
					t.Errorf("asked %v of drafts %v, want %v of %v", l.asked, l.draft, row.asked, row.drafts)
				}
			})
		})
	}
}

func TestEditWithoutRevisionIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := online(answers(200, `{"data":{"draft":{"draft":{"id":"gid://shopify/SubscriptionDraft/1","originalContract":null},"userErrors":[]}}}`))
		_, err := c.EditContract(t.Context(), demo, 1, platform.Edit{Revision: 7, Note: new("n")})
		if !errors.Is(err, platform.ErrUnknown) || len(l.draft) != 0 {
			t.Errorf("got %v, changed the drafts %v", err, l.draft)
		}
	})
}

func TestLostAnswerOfStatusIsRepeated(t *testing.T) {
	t.Parallel()
	lost := loses(io.EOF)
	rows := []struct {
		name  string
		steps []wireFunc
		want  func(error) bool
	}{
		{"three lost answers are borne", []wireFunc{lost, lost, lost, doneBody("PAUSED")}, is(nil)},
		{"a refusal of what was done already is none", []wireFunc{lost, refusedBody("INVALID"), readBody("PAUSED")}, is(nil)},
		{"a refusal of what was not done stands", []wireFunc{lost, refusedBody("INVALID"), readBody("ACTIVE")}, refusal("INVALID")},
		{"a refusal that cannot be looked into after a lost answer is unknown", []wireFunc{lost, refusedBody("INVALID"), answers(401, ``)}, is(platform.ErrUnknown)},
		{"a refusal that cannot be looked into stands when no answer was lost", []wireFunc{refusedBody("INVALID"), answers(401, ``)}, refusal("INVALID")},
		{"a connection that is gone after a lost answer is unknown", []wireFunc{lost, answers(401, ``)}, is(platform.ErrUnknown)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, l := online(row.steps...)
				_, err := c.SetStatus(platform.Interactive(t.Context()), demo, 1, "PAUSED")
				if !row.want(err) || len(l.asked) != len(row.steps) {
					t.Errorf("got %v after %d requests of %d", err, len(l.asked), len(row.steps))
				}
			})
		})
	}
}

func TestLostAnswerOfCycleResetIsRepeated(t *testing.T) {
	t.Parallel()
	const order = `{"deliveryPrice":{"amount":"0.0","currencyCode":"USD"}}`
	node := func(edited string) wireFunc {
		return answers(200, `{"data":{"subscriptionBillingCycle":{"skipped":false,"billingAttemptExpectedDate":"2026-01-31T12:00:00Z","editedContract":`+edited+`,"sourceContract":`+order+`}}}`)
	}
	dropped := func(errs string) wireFunc {
		return answers(200, `{"data":{"subscriptionBillingCycleEditDelete":{"userErrors":[`+errs+`]}}}`)
	}
	lost, none := loses(io.EOF), dropped(`{"code":"NO_CYCLE_EDITS","field":null,"message":"no"}`)
	cycles := answers(200, `{"data":{"subscriptionBillingCycles":{"nodes":[{"cycleIndex":1,"billingAttemptExpectedDate":"2026-01-31T12:00:00Z"}],"pageInfo":{"hasNextPage":false}}}}`)
	rows := []struct {
		name  string
		steps []wireFunc
		want  func(error) bool
	}{
		{"it is done at the second time", []wireFunc{node(order), lost, dropped(``), cycles}, is(nil)},
		{"it was done at the first", []wireFunc{node(order), lost, none, node(`null`), cycles}, is(nil)},
		{"it is refused while the edit stays", []wireFunc{node(order), lost, dropped(`{"code":"INVALID","field":null,"message":"no"}`), node(order)}, refusal("INVALID")},
		{"what cannot be looked into after a lost answer is unknown", []wireFunc{node(order), lost, none, answers(401, ``)}, is(platform.ErrUnknown)},
		{"a connection that is gone after a lost answer is unknown", []wireFunc{node(order), lost, answers(401, ``)}, is(platform.ErrUnknown)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, l := online(row.steps...)
				err := c.DropCycleEdit(platform.Interactive(t.Context()), demo, platform.CycleRef{Contract: 1, Index: 1})
				if !row.want(err) || len(l.asked) != len(row.steps) {
					t.Errorf("got %v after %v, %d requests of %d", err, l.asked, len(l.asked), len(row.steps))
				}
			})
		})
	}
}
