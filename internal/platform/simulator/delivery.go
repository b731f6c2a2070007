package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// delivery is one webhook on its way to one address.
type delivery struct {
	Shop         string
	App          string `json:",omitempty"` // owner of the subscription
	Event        string // the same for every subscription and every retry
	Webhook      string // the same for every retry
	Topic        string // as in the schema's enum
	Name         string `json:",omitempty"`
	Subscription int64
	URI          string // as it was when the event happened
	APIVersion   string
	Body         []byte
	TriggeredAt  time.Time
	Retries      int
}

// The platform's patience with receivers: eight retries, each wait twice the
// one before, within four hours.
const (
	deliveryRetries = 8
	firstRetryWait  = 56 * time.Second
	connectTimeout  = time.Second
	deliveryTimeout = 5 * time.Second
)

func deliveryClient(by http.RoundTripper) *http.Client {
	if by != nil {
		return &http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &http.Client{
		Timeout: deliveryTimeout,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
			MaxIdleConnsPerHost: parallelism, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// scheduleDelivery sends a webhook now, unless a fault has it otherwise.
func (s *Simulator) scheduleDelivery(sh *store, rank int64, d *delivery) {
	at := s.opts.Clock.Now()
	put := func(at time.Time) { s.schedule(item{At: at, Rank: rank, Shop: sh.Domain, Deliver: d}) }
	switch kind, roll := s.webhookFault(d); kind {
	case WebhookLost:
	case WebhookDuplicated:
		put(at)
		again := *d
		s.schedule(item{At: at.Add(duplicateAfter), Rank: rank, Shop: sh.Domain, Deliver: &again})
	case WebhookLate:
		put(at.Add(latestMin + time.Duration(roll%uint64(latestMax-latestMin)).Truncate(time.Second)))
	case WebhookReordered:
		put(at.Add(reorderedBy))
	default:
		put(at)
	}
}

// Sign returns the value of the signature header for a webhook's body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// deliver sends a webhook once and reports whether it was accepted.
func (s *Simulator) deliver(ctx context.Context, d *delivery) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URI, bytes.NewReader(d.Body))
	if err != nil {
		return false
	}
	for name, value := range map[string]string{
		"Content-Type":           "application/json",
		"X-Shopify-Topic":        headerTopic(d.Topic),
		"X-Shopify-Hmac-Sha256":  Sign(s.secretOf(d.App), d.Body),
		"X-Shopify-Shop-Domain":  d.Shop,
		"X-Shopify-Api-Version":  d.APIVersion,
		"X-Shopify-Webhook-Id":   d.Webhook,
		"X-Shopify-Event-Id":     d.Event,
		"X-Shopify-Triggered-At": d.TriggeredAt.UTC().Format(time.RFC3339Nano),
	} {
		req.Header.Set(name, value)
	}
	if d.Name != "" {
		req.Header.Set("X-Shopify-Name", d.Name)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	return res.StatusCode/100 == 2
}

// delivered settles one try of a delivery.
func (s *Simulator) delivered(ctx context.Context, i item, ok bool) {
	sh, d := s.state.shops[i.Shop], i.Deliver
	if sh == nil {
		return // restored to a time before the store
	}
	w, known := sh.subscriptions.get(d.Subscription)
	now := s.opts.Clock.Now()
	switch {
	case ok:
		if known {
			w.LastSuccess = now
			s.save(w)
		}
	case ctx.Err() != nil: // we gave up, not the receiver
		s.drop(i)
		s.schedule(item{At: i.At, Rank: i.Rank, Shop: i.Shop, Deliver: d})
		return
	case d.Retries < deliveryRetries:
		next := *d
		next.Retries++
		s.schedule(item{At: now.Add(firstRetryWait << d.Retries), Rank: i.Rank, Shop: i.Shop, Deliver: &next})
	case known && !w.Removed && w.LastSuccess.Before(d.TriggeredAt) && !s.opts.Switches.KeepFailingSubscriptions:
		w.Removed = true
		s.save(w)
		s.opts.Log.Info("webhook subscription removed after its retries", "shop", sh.Domain, "topic", w.Topic)
	}
	s.drop(i)
}

// addressError returns why an address cannot receive webhooks.
func (s *Simulator) addressError(uri string) string {
	switch {
	case uri == "":
		return "Address can't be blank"
	case strings.HasPrefix(uri, "http://") && !s.opts.AllowHTTPWebhooks:
		return "Address protocol http:// is not supported"
	case !strings.HasPrefix(uri, "http://") && !strings.HasPrefix(uri, "https://"):
		return "Address is invalid"
	}
	return ""
}
