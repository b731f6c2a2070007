package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/web"
)

// texts is a provider of SMS that delivers nothing: what it is sent lies in its journal. It answers as
// Twilio's Messages API does.
type texts struct {
	caught *journal[textMessage]
	clock  clock.Clock
	log    *slog.Logger
	server *http.Server
	client *http.Client
	port   int
	token  string

	mu      sync.Mutex
	hang    int
	reports []smsReport
}

// The account of the service at the provider.
const (
	smsAccount = "AC00000000000000000000000000000000"
	smsFrom    = "+15005550006"
	smsWait    = 2 * time.Second // for an answer of the provider
)

// refusedNumbers are numbers that the provider does not take, with its codes: those of Twilio's test
// credentials. undeliverable takes SMS that never arrive.
var refusedNumbers = map[string]int{"+15005550001": 21211, "+15005550002": 21612, "+15005550003": 21408, "+15005550004": 21610, "+15005550009": 21614}

const undeliverable = "+15005550050"

// openTexts begins to catch on a free port of this machine.
func openTexts(ctx context.Context, path string, c clock.Clock, log *slog.Logger) (*texts, error) {
	t := &texts{caught: &journal[textMessage]{path: path}, clock: c, log: log, token: rand.Text(), client: &http.Client{Timeout: mailWait}}
	if err := t.caught.reload(); err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(mailHost, "0"))
	if err != nil {
		return nil, err
	}
	t.port = portOf(l)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2010-04-01/Accounts/"+smsAccount+".json", t.account)
	mux.HandleFunc("GET /2010-04-01/Accounts/"+smsAccount+"/Messages.json", t.list)
	mux.HandleFunc("POST /2010-04-01/Accounts/"+smsAccount+"/Messages.json", t.take)
	t.server = &http.Server{Handler: t.entered(mux), ReadHeaderTimeout: mailWait}
	go t.server.Serve(l) //nolint:errcheck // it ends when it is closed
	return t, nil
}

func (t *texts) close() error {
	t.client.CloseIdleConnections()
	return t.server.Close()
}

// entered asks for the account's token. A request that hangs ends when its client has gone.
func (t *texts) entered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, token, _ := r.BasicAuth()
		if account != smsAccount || subtle.ConstantTimeCompare([]byte(token), []byte(t.token)) != 1 {
			refuse(w, http.StatusUnauthorized, 20003)
			return
		}
		if err := r.ParseForm(); err != nil { // before it hangs: the server sees a client go only after the body
			refuse(w, http.StatusBadRequest, 20001)
			return
		}
		t.mu.Lock()
		hangs := t.hang > 0
		if hangs {
			t.hang--
		}
		t.mu.Unlock()
		if hangs {
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status, code int) {
	respond(w, status, map[string]any{"code": code, "message": "refused by the simulated provider", "status": status})
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

func (t *texts) account(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, map[string]any{"sid": smsAccount, "status": "active"})
}

// providerMessage is an SMS as the API shows it.
type providerMessage struct {
	SID    string `json:"sid"`
	To     string `json:"to"`
	Body   string `json:"body"`
	Status string `json:"status"`
}

// list shows what was sent to a number, newest first.
func (t *texts) list(w http.ResponseWriter, r *http.Request) {
	found := []providerMessage{}
	for _, m := range t.caught.all() {
		if m.To == r.Form.Get("To") && time.Time(*m.At).Format(time.DateOnly) >= r.Form.Get("DateSent>") {
			found = append([]providerMessage{{m.ID, m.To, m.Text, "delivered"}}, found...)
		}
	}
	respond(w, http.StatusOK, map[string]any{"messages": found})
}

// take takes an SMS.
func (t *texts) take(w http.ResponseWriter, r *http.Request) {
	to, text := r.PostForm.Get("To"), r.PostForm.Get("Body")
	if code := refusedNumbers[to]; code != 0 {
		refuse(w, http.StatusBadRequest, code)
		return
	}
	if _, ok := sms.ParsePhone(to); !ok || text == "" || r.PostForm.Get("From") != smsFrom {
		refuse(w, http.StatusBadRequest, 21211)
		return
	}
	kind := ""
	callback, err := url.Parse(r.PostForm.Get("StatusCallback"))
	if err == nil {
		kind = callback.Query().Get("kind")
	}
	m := t.message(to, text, kind)
	if err := t.caught.add(m); err != nil {
		refuse(w, http.StatusInternalServerError, 20500)
		return
	}
	if address := r.PostForm.Get("StatusCallback"); address != "" {
		form := url.Values{"MessageSid": {m.ID}, "AccountSid": {smsAccount}, "To": {to}, "From": {smsFrom}, "MessageStatus": {"delivered"}}
		if to == undeliverable {
			form.Set("MessageStatus", "undelivered")
			form.Set("ErrorCode", "30003")
		}
		t.mu.Lock()
		t.reports = append(t.reports, smsReport{address, form})
		t.mu.Unlock()
	}
	respond(w, http.StatusCreated, providerMessage{m.ID, to, text, "queued"})
}

// message returns an SMS to a person.
func (t *texts) message(to, text, kind string) textMessage {
	return textMessage{ID: t.id(), To: to, From: smsFrom, Text: text, Segments: sms.Segments(text), Kind: kind, At: web.At(t.clock.Now()), Links: linksIn("", text)}
}

// id returns a number of an SMS, as the provider gives them.
func (t *texts) id() string {
	return "SM" + strings.ToLower(fmt.Sprintf("%.32s", rand.Text()+rand.Text()))
}
