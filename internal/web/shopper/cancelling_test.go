package shopper

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestStepsOfCancellingSendCommandsOfShopper(t *testing.T) {
	t.Parallel()
	begun := session.Command{Line: shop.Memberships, Contract: 9001, Actor: ada()}
	is := session.Named{Line: shop.Memberships, Session: 601, Actor: ada()}
	seen := is
	seen.Version = 41
	for name, row := range map[string]struct {
		method, path, body string
		want               any
	}{
		"the flow":             {"GET", "/cancel-flow?contractId=gid:%2F%2Fshopify%2FSubscriptionContract%2F9001", "", begun},
		"a start":              {"POST", "/cancel-flow", `{"contractId":"9001"}`, begun},
		"a session":            {"GET", "/cancel-flow/601", "", is},
		"a reason":             {"POST", "/cancel-flow/601/reason", `{"reason":"too-much","comment":"Two are enough"}`, session.Answer{Named: is, Reason: "too-much", Comment: "Two are enough"}},
		"an acceptance":        {"POST", "/cancel-flow/601/accept?version=41", `{"choice":"7002"}`, session.Acceptance{Named: seen, Choice: "7002"}},
		"no choice":            {"POST", "/cancel-flow/601/accept", `{}`, session.Acceptance{Named: is}},
		"no answer":            {"POST", "/cancel-flow/601/decline", "", is},
		"back":                 {"POST", "/cancel-flow/601/back", "", is},
		"the contract kept":    {"POST", "/cancel-flow/601/keep", "", is},
		"a cancellation":       {"POST", "/cancel-flow/601/confirm?version=41", "", seen},
		"a comment afterwards": {"POST", "/cancel-flow/601/comment", `{"comment":"Smaller bags"}`, session.Answer{Named: is, Comment: "Smaller bags"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{})
			w := s.ask(row.method, row.path, row.body)
			if diff := cmp.Diff(row.want, s.command); diff != "" || w.Code != http.StatusOK || s.of != 7 {
				t.Errorf("answered %d %s for shop %d (-want +got):\n%s", w.Code, w.Body, s.of, diff)
			}
		})
	}
}

func TestSessionOfCancellingIsWrittenWhole(t *testing.T) {
	t.Parallel()
	webtest.Golden(t, "cancel-session.json", serve(t, &fakes{}).ask("GET", "/cancel-flow/601?locale=de", "").Body.Bytes())
	for path, says := range map[string][]string{
		"/cancel-flow?contractId=9001": {`"id":null`, `"step":null`, `"outcome":null`, `"reference":null`, `"offer":null`},
		"/cancel-flow/601/confirm":     {`"outcome":"CANCELLED"`, `"reference":"C-9001-601"`, `"endedAt":"2026-01-31T12:00:00Z"`},
	} {
		method := "POST"
		if strings.Contains(path, "?") {
			method = "GET"
		}
		text := serve(t, &fakes{}).ask(method, path, "").Body.String()
		for _, want := range says {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not answer %s:\n%s", path, want, text)
			}
		}
	}
}

func TestStepOfCancellingIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for path, row := range map[string]struct{ body, key, param string }{
		"/cancel-flow":             {`{}`, "bodyField", "contractId"},
		"/cancel-flow/601/reason":  {`{"reason":"` + strings.Repeat("x", 41) + `"}`, "bodyField", "reason"},
		"/cancel-flow/601/comment": {`{"comment":""}`, "bodyField", "comment"},
	} {
		w := serve(t, &fakes{}).ask("POST", path, row.body)
		if p := webtest.Problem(t, w); w.Code != http.StatusBadRequest || p.ErrorKey != row.key || p.Params == nil || *p.Params != row.param {
			t.Errorf("%s answered %d %s", path, w.Code, w.Body)
		}
	}
	s := serve(t, &fakes{err: fault.New(fault.Conflict, "subscription contract 9001 has changed since it was shown").Code("changedMeanwhile")})
	if w := s.ask("POST", "/cancel-flow/601/confirm", ""); w.Code != http.StatusConflict || webtest.Problem(t, w).ErrorKey != "changedMeanwhile" {
		t.Errorf("a contract that has changed: %d %s", w.Code, w.Body)
	}
}
