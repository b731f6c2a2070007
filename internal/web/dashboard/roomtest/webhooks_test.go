package roomtest_test

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/webhooks"
)

const webhooksPath = dashboardtest.At + "/webhooks"

// webhooksServer answers all messages alike.
type webhooksServer struct{ answer webhook.Answer }

func (s *webhooksServer) Send(context.Context, webhook.Call) webhook.Answer { return s.answer }

type webhooksSite struct {
	*dashboardtest.Site
	webhooks *webhook.Service
	server   *webhooksServer
}

func openWebhooks(t *testing.T) webhooksSite {
	t.Helper()
	sent := &webhooksServer{}
	var service *webhook.Service
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		service = &webhook.Service{Store: s.DB.Webhooks(), Sender: sent, Clock: s.Clock, Log: slog.New(slog.DiscardHandler), MaxTasks: 1}
		o.Rooms = append(o.Rooms, webhooks.New(webhooks.Options{Endpoints: service, Deliveries: service, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return webhooksSite{s, service, sent}
}

// work sends what is due. Test messages have their bodies already.
func (s webhooksSite) work(of shop.ID) {
	s.Helper()
	if err := s.webhooks.Deliver(s.Context(), of); err != nil {
		s.Fatal(err)
	}
}

func (s webhooksSite) add(of shop.ID) webhook.Endpoint {
	s.Helper()
	e, err := s.webhooks.Add(s.Context(), of, webhook.NewEndpoint{URL: "https://erp.example/hooks", Types: []webhook.Type{webhook.SignUp}, Actor: activity.System})
	if err != nil {
		s.Fatal(err)
	}
	return e
}

func TestEndpointIsAddedTestedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t)
	s.Want(s.Get(webhooksPath), http.StatusOK, "No endpoint yet")
	s.Want(s.Get(webhooksPath+"/new"), http.StatusOK, "A contract was cancelled", "subscription.billing-success", "Loyalty")
	s.Want(s.Post(webhooksPath, "url", "http://erp.example", "type", "loyalty.sign-up"), http.StatusUnprocessableEntity, `id="e-url"`)
	s.Want(s.Post(webhooksPath, "url", "https://erp.example"), http.StatusUnprocessableEntity, "Choose at least one event")
	s.Want(s.Post(webhooksPath, "url", "https://erp.example", "type", "made.up"), http.StatusUnprocessableEntity, `id="e-types"`)
	added := s.Post(webhooksPath, "url", "https://erp.example/hooks", "type", "subscription.billing-success", "type", "loyalty.sign-up")
	s.Want(added, http.StatusOK, "The endpoint was added", "Subscription: An order was paid", "Nothing was sent yet")
	one := regexp.MustCompile(`/webhooks/\d+`).FindString(added.Path)
	one = dashboardtest.At + one
	if strings.Contains(added.Text, "whsec_") {
		t.Error("the page shows the secret unasked")
	}
	secret := s.Post(one + "/secret")
	s.Want(secret, http.StatusOK, "whsec_")
	if secret.Header.Get("Cache-Control") != "no-store" {
		t.Error("the page with the secret may be stored")
	}
	s.Want(s.Get(one+"/rotate"), http.StatusOK, "signed with both secrets for 24 hours")
	s.Want(s.Post(one+"/rotate"), http.StatusOK, "The secret was replaced", "signs too until 26 Nov 2026, 12:00 UTC")
	s.Want(s.Post(one+"/test"), http.StatusOK, "A test event is on its way", "A test event", "Waits")
	s.Want(s.Get(one+"/edit"), http.StatusOK, "https://erp.example/hooks", `value="loyalty.sign-up" checked`)
	s.Want(s.Post(one+"/edit", "url", "ftp://x", "type", "loyalty.sign-up"), http.StatusUnprocessableEntity, `value="ftp://x"`)
	s.Want(s.Post(one+"/edit", "url", "https://erp.example/new", "type", "loyalty.earned"), http.StatusOK, "The endpoint was changed", "https://erp.example/new", "Points were earned")
	s.Want(s.Get(one+"/disable"), http.StatusOK, "It receives no events until you enable it again")
	s.Want(s.Post(one+"/disable"), http.StatusOK, "The endpoint is disabled", "Failed")
	s.Want(s.Post(one+"/test"), http.StatusConflict, "enable it first")
	s.Want(s.Post(one+"/enable"), http.StatusOK, "The endpoint is enabled")
	s.Want(s.Get(one+"/delete"), http.StatusOK, "deleted with it")
	s.Want(s.Post(one+"/delete"), http.StatusOK, "The endpoint and its deliveries were deleted", "No endpoint yet")
	s.Want(s.Get(one), http.StatusNotFound)
}

func TestFailedDeliveriesAreShownAndReplayed(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t)
	e := s.add(s.First.ID)
	one := fmt.Sprintf("%s/%d", webhooksPath, e.ID)
	bad := "<script>alert(1)</script>{{7*7}}"
	s.server.answer = webhook.Answer{Code: 500, Failed: "it answered 500", Head: bad, Took: 12 * time.Millisecond}
	if _, err := s.webhooks.SendTest(t.Context(), s.First.ID, e.ID, activity.System); err != nil {
		t.Fatal(err)
	}
	for range len(webhook.RetryDelays) + 1 {
		s.work(s.First.ID)
		s.Clock.Set(s.Clock.Now().Add(27 * time.Hour))
	}
	s.SignIn(dashboardtest.Owner)
	list := s.Get(dashboardtest.At + "/webhook-deliveries?status=FAILED")
	s.Want(list, http.StatusOK, "A test event", "Failed", "500", "12 ms", "https://erp.example/hooks")
	delivery := regexp.MustCompile(dashboardtest.At + `/webhook-deliveries/\d+`).FindString(list.Text)
	p := s.Get(delivery)
	s.Want(p, http.StatusOK, "Failed because", "webhook-id", "msg_", html.EscapeString("<script>alert(1)</script>")+"{{7*7}}", "&#34;type&#34;:&#34;webhook.test&#34;")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("the answer of a server is a script")
	}
	s.Want(s.Get(one+"/replay"), http.StatusOK, "Replay failed messages", "At most 1000")
	s.Want(s.Post(one+"/replay", "since", "soon"), http.StatusUnprocessableEntity, `id="e-since"`)
	s.Want(s.Post(one+"/replay", "since", "2026-11-25"), http.StatusUnprocessableEntity, "enable it first") // it was disabled for its failures
	s.Want(s.Post(one+"/enable"), http.StatusOK)
	s.Want(s.Post(one+"/replay", "since", "2099-01-01"), http.StatusUnprocessableEntity, "must not be ahead")
	s.Want(s.Post(one+"/replay", "since", "2026-11-26"), http.StatusOK, "No message has failed since then")
	s.Want(s.Post(one+"/replay", "since", "2026-11-25"), http.StatusOK, "The failed messages are sent again", "Waits")
	s.server.answer = webhook.Answer{Code: 204}
	s.work(s.First.ID)
	s.Want(s.Get(delivery), http.StatusOK, "Delivered", "204")
	s.Want(s.Post(delivery+"/replay"), http.StatusOK, "The message is sent again", "Waits")
	s.Want(s.Get(dashboardtest.At+"/webhook-deliveries?status=DELIVERED"), http.StatusOK, "No delivery")
	s.work(s.First.ID)
	s.Want(s.Get(one+"/replay-all"), http.StatusOK, "Replay all messages", "also those that were delivered")
	s.Want(s.Post(one+"/replay-all", "since", "soon"), http.StatusUnprocessableEntity, `id="e-since"`)
	s.Want(s.Post(one+"/replay-all", "since", "2001-01-01"), http.StatusUnprocessableEntity, "more than 30 days ago")
	s.Want(s.Post(one+"/replay-all", "since", "2026-11-26"), http.StatusOK, "There is no message since then")
	s.Want(s.Post(one+"/replay-all", "since", "2026-11-25"), http.StatusOK, "All messages since then are sent again", "Waits")
}

func TestSuccessOfADayIsShown(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t)
	e := s.add(s.First.ID)
	for i := range 4 {
		s.server.answer = webhook.Answer{Code: 200}
		if i == 3 {
			s.server.answer = webhook.Answer{Failed: "it did not answer"}
		}
		if _, err := s.webhooks.SendTest(t.Context(), s.First.ID, e.ID, activity.System); err != nil {
			t.Fatal(err)
		}
		s.work(s.First.ID)
	}
	s.Want(s.Get(webhooksPath), http.StatusOK, "75 % of 4", "Failing", "Nothing arrived since 25 Nov 2026, 12:00 UTC")
}

func TestEndpointsOfAnotherStoreAndRoleAreRefused(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t)
	e := s.add(s.Second.ID)
	if _, err := s.webhooks.SendTest(t.Context(), s.Second.ID, e.ID, activity.System); err != nil {
		t.Fatal(err)
	}
	theirs, _, err := s.webhooks.Browse(t.Context(), s.Second.ID, webhook.DeliveryFilter{}, page.Cursor{}, 1)
	if err != nil || len(theirs) != 1 {
		t.Fatal(theirs, err)
	}
	one, delivery := fmt.Sprintf("%s/%d", webhooksPath, e.ID), fmt.Sprintf("%s/webhook-deliveries/%d", dashboardtest.At, theirs[0].ID)
	for _, path := range []string{
		one, one + "/edit", one + "/disable", one + "/rotate", one + "/delete", one + "/replay", one + "/replay-all", webhooksPath + "/x", delivery, dashboardtest.At + "/webhook-deliveries/x",
		fmt.Sprintf("%s/webhook-deliveries?endpoint=%d", dashboardtest.At, e.ID),
	} {
		s.Want(s.Get(path), http.StatusNotFound)
	}
	for _, path := range []string{one + "/edit", one + "/secret", one + "/test", one + "/enable", one + "/disable", one + "/rotate", one + "/delete", one + "/replay", one + "/replay-all", delivery + "/replay"} {
		s.Want(s.Post(path, "since", "2026-11-25"), http.StatusNotFound)
	}
	s.Want(s.Get(dashboardtest.At+"/webhook-deliveries?status=LOST"), http.StatusBadRequest)
	s.Want(s.Get(dashboardtest.At+"/webhook-deliveries?after=x"), http.StatusBadRequest)
	s.Add("sam@staff.example", staff.Support)
	s.SignIn("sam@staff.example")
	s.Want(s.Get(webhooksPath), http.StatusForbidden)
	s.Want(s.Post(one+"/secret"), http.StatusForbidden)
}
