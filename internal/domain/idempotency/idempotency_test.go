package idempotency

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key string
		ok  bool
	}{
		"one character":                  {"x", true},
		"every visible character":        {`!"#$%&'()*+,-./09:;<=>?@AZ[\]^_` + "`az{|}~", true},
		"the longest":                    {strings.Repeat("k", 255), true},
		"longer than the longest":        {strings.Repeat("k", 256), false},
		"nothing":                        {"", false},
		"a space is not visible":         {"a b", false},
		"a tab is not visible":           {"a\tb", false},
		"a control character":            {"a\x7fb", false},
		"letters beyond ASCII":           {"schlüssel", false},
		"bytes that are no text":         {"\xff", false},
		"a NUL":                          {"\x00", false},
		"a character that ends in ASCII": {"\u0141", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := ParseKey(test.key)
			if test.ok && (err != nil || string(key) != test.key) {
				t.Errorf("got %q, %v", key, err)
			}
			if !test.ok && !fault.Is(err, fault.Invalid) {
				t.Errorf("got %q, %v", key, err)
			}
		})
	}
}

func theRequest() Request {
	return Request{
		Caller: 3, Line: shop.Subscriptions, Method: "PUT", Path: "/orders/1", Query: "a=1&b=2", Body: []byte(`{"id":1}`), Key: "first",
	}
}

func TestWhatMakesARequestTheSame(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change                    func(*Request)
		sameName, sameFingerprint bool
	}{
		"nothing differs":              {func(*Request) {}, true, true},
		"another key":                  {func(r *Request) { r.Key = "second" }, false, true},
		"another caller":               {func(r *Request) { r.Caller = 4 }, false, true},
		"another line":                 {func(r *Request) { r.Line = shop.Memberships }, false, true},
		"another method":               {func(r *Request) { r.Method = "POST" }, false, true},
		"another path":                 {func(r *Request) { r.Path = "/orders/2" }, false, true},
		"the key begins in the path":   {func(r *Request) { r.Path, r.Key = "/orders/1f", "irst" }, false, true},
		"another query":                {func(r *Request) { r.Query = "a=1" }, true, false},
		"another body":                 {func(r *Request) { r.Body = []byte(`{"id":2}`) }, true, false},
		"no body":                      {func(r *Request) { r.Body = nil }, true, false},
		"the body begins in the query": {func(r *Request) { r.Query, r.Body = `a=1&b=2{`, []byte(`"id":1}`) }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := theRequest()
			test.change(&other)
			a, b := theRequest().Claim(time.Time{}), other.Claim(time.Time{})
			if (a.Name == b.Name) != test.sameName || (a.Fingerprint == b.Fingerprint) != test.sameFingerprint {
				t.Errorf("same name %t, same fingerprint %t", a.Name == b.Name, a.Fingerprint == b.Fingerprint)
			}
			if a.Token == b.Token {
				t.Error("two claims have the same token")
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	mine := theRequest().Claim(time.Time{})
	for name, test := range map[string]struct {
		record Record
		want   ClaimResult
	}{
		"a record of the claim itself":                      {Record{Fingerprint: mine.Fingerprint, Token: mine.Token}, Granted},
		"a record of another claim":                         {Record{Fingerprint: mine.Fingerprint, Token: "other"}, Running},
		"an answer":                                         {Record{Fingerprint: mine.Fingerprint, Token: "other", Answer: &Answer{Status: 200}}, Answered},
		"another request that runs":                         {Record{Token: "other"}, Reused},
		"another request that was answered is not repeated": {Record{Token: "other", Answer: &Answer{Status: 200}}, Reused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.record.Check(mine); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

func TestClaimsEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	c := theRequest().Claim(at)
	if want := time.Date(2025, 1, 31, 12, 1, 0, 0, time.UTC); !c.ExpiresAt().Equal(want) {
		t.Errorf("dead at %s, want %s", c.ExpiresAt(), want)
	}
	if want := time.Date(2025, 2, 1, 12, 0, 0, 0, time.UTC); !c.AnswerExpiresAt().Equal(want) {
		t.Errorf("kept until %s, want %s", c.AnswerExpiresAt(), want)
	}
	once := theRequest()
	once.Once = true
	if c := once.Claim(at); !c.ExpiresAt().Equal(c.AnswerExpiresAt()) {
		t.Errorf("what is carried out at most once may be carried out again at %s", c.ExpiresAt())
	}
}
