package simulator

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/gid"
)

func createSubscription(x *exec, _ any, a args) any {
	const kind = "WebhookSubscriptionCreatePayload"
	in, topic := a.object("webhookSubscription"), a.text("topic")
	refuse := func(message string) any {
		return done(kind, &userError{Field: []string{"webhookSubscription", "callbackUrl"}, Message: message}, part{"webhookSubscription", nil})
	}
	if !x.plainSubscription(in) {
		return nil
	}
	uri := or(in.text("uri"), in.text("callbackUrl"))
	if message := x.s.addressError(uri); message != "" {
		return refuse(message)
	}
	if x.subscribed(topic, uri, 0) {
		return refuse("Address for this topic has already been taken")
	}
	now := x.s.now()
	w := &subscription{
		Shop: x.shop.Domain, ID: take(&x.shop.next.Subscription), App: x.app, Topic: topic, URI: uri, Name: in.text("name"), CreatedAt: now, UpdatedAt: now,
	}
	x.shop.subscriptions.add(w.ID, w)
	x.s.save(&x.shop.next)
	x.s.save(w)
	return done(kind, nil, part{"webhookSubscription", typed("WebhookSubscription", w)})
}

// plainSubscription fails the field when a subscription wants what is not
// simulated: it would otherwise get more than it asked for.
func (x *exec) plainSubscription(in args) bool {
	if in.has("filter") || in.has("includeFields") || in.text("format") == "XML" {
		x.fail(codeNotSimulated, "The simulator does not simulate webhook filters, chosen fields or XML.")
		return false
	}
	return true
}

// subscribed reports whether another subscription of the app has the topic and address.
func (x *exec) subscribed(topic, uri string, except int64) bool {
	return slices.ContainsFunc(x.shop.subscriptions.order, func(w *subscription) bool {
		return !w.Removed && w.App == x.app && w.Topic == topic && w.URI == uri && w.ID != except
	})
}

func updateSubscription(x *exec, _ any, a args) any {
	const kind = "WebhookSubscriptionUpdatePayload"
	n, ok := x.id(a, "id", "WebhookSubscription")
	if !ok || !x.plainSubscription(a.object("webhookSubscription")) {
		return nil
	}
	w := x.subscription(n)
	refuse := func(message string, field ...string) any {
		return done(kind, &userError{Field: field, Message: message}, part{"webhookSubscription", nil})
	}
	if w == nil {
		return refuse("Webhook subscription does not exist", "id")
	}
	in := a.object("webhookSubscription")
	uri := or(or(in.text("uri"), in.text("callbackUrl")), w.URI)
	if message := x.s.addressError(uri); message != "" {
		return refuse(message, "webhookSubscription", "callbackUrl")
	}
	if x.subscribed(w.Topic, uri, w.ID) {
		return refuse("Address for this topic has already been taken", "webhookSubscription", "callbackUrl")
	}
	w.URI, w.UpdatedAt = uri, x.s.now()
	if in.has("name") {
		w.Name = in.text("name")
	}
	x.s.save(w)
	return done(kind, nil, part{"webhookSubscription", typed("WebhookSubscription", w)})
}

func deleteSubscription(x *exec, _ any, a args) any {
	const kind = "WebhookSubscriptionDeletePayload"
	n, ok := x.id(a, "id", "WebhookSubscription")
	if !ok {
		return nil
	}
	w := x.subscription(n)
	if w == nil {
		return done(kind, &userError{Field: []string{"id"}, Message: "Webhook subscription does not exist"}, part{"deletedWebhookSubscriptionId", nil})
	}
	w.Removed = true
	x.s.save(w)
	return done(kind, nil, part{"deletedWebhookSubscriptionId", gid.Of("WebhookSubscription", n)})
}
