package shopify

import (
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/platform"
)

const hooks = "https://perennial.example/webhooks"

func subscriptionsJSON(nodes ...string) string {
	return `{"data":{"webhookSubscriptions":{"nodes":[` + strings.Join(nodes, ",") + `],"pageInfo":{"hasNextPage":false}}}}`
}

func subscriptionJSON(id, topic, uri string) string {
	return `{"id":"` + id + `","topic":"` + topic + `","uri":"` + uri + `"}`
}

func TestSubscribingChangesOnlyDifferences(t *testing.T) {
	t.Parallel()
	const topic = "SUBSCRIPTION_CONTRACTS_UPDATE"
	const done = `"userErrors":[]`
	created, updated, deleted := `{"data":{"webhookSubscriptionCreate":{`+done+`}}}`, `{"data":{"webhookSubscriptionUpdate":{`+done+`}}}`, `{"data":{"webhookSubscriptionDelete":{`+done+`}}}`
	const create = `{"topic":"` + topic + `","subscription":{"uri":"` + hooks + `"}}`
	rows := []struct {
		name    string
		topics  []platform.Topic
		answers []string
		changes []string // the variables of each change
	}{
		{"what is right is left alone", []platform.Topic{platform.ContractUpdated}, []string{subscriptionsJSON(subscriptionJSON("1", topic, hooks))}, nil},
		{"what is missing is created", []platform.Topic{platform.ContractUpdated}, []string{subscriptionsJSON(), created}, []string{create}},
		{"a topic that is listed twice is created once", []platform.Topic{platform.ContractUpdated, platform.ContractUpdated}, []string{subscriptionsJSON(), created}, []string{create}},
		{"another address is replaced", []platform.Topic{platform.ContractUpdated}, []string{subscriptionsJSON(subscriptionJSON("1", topic, "https://old.example")), updated},
			[]string{`{"id":"1","subscription":{"uri":"` + hooks + `"}}`}},
		{"of two the right one stays", []platform.Topic{platform.ContractUpdated}, []string{subscriptionsJSON(subscriptionJSON("1", topic, "https://old.example"), subscriptionJSON("2", topic, hooks)), deleted},
			[]string{`{"id":"1"}`}},
		{"a subscription that delivers to a queue is none of ours", []platform.Topic{platform.ContractUpdated}, []string{subscriptionsJSON(subscriptionJSON("1", topic, "arn:aws:events:x")), created}, []string{create}},
		{"one that another node created meanwhile is no error", []platform.Topic{platform.ContractUpdated},
			[]string{subscriptionsJSON(), `{"data":{"webhookSubscriptionCreate":{"userErrors":[{"field":["webhookSubscription","callbackUrl"],"message":"Address for this topic has already been taken"}]}}}`}, []string{create}},
		{"no topics are no request", nil, nil, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, s := scripted(t, row.answers...)
			if err := c.Subscribe(t.Context(), demo, hooks, row.topics); err != nil {
				t.Fatal(err)
			}
			if len(s.variables) != len(row.answers) {
				t.Fatalf("%d requests, want %d: %v", len(s.variables), len(row.answers), s.variables)
			}
			for i, want := range row.changes {
				if got := s.variables[i+1]; got != want {
					t.Errorf("change %d: %s, want %s", i, got, want)
				}
			}
		})
	}
}

func TestRefusedAddressIsRefusal(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, subscriptionsJSON(), `{"data":{"webhookSubscriptionCreate":{"userErrors":[{"field":["webhookSubscription","callbackUrl"],"message":"Address protocol http:// is not supported"}]}}}`)
	err := c.Subscribe(t.Context(), demo, "http://perennial.example", []platform.Topic{platform.Uninstalled})
	if !isRefusal(err, "") || !strings.Contains(err.Error(), "APP_UNINSTALLED") {
		t.Errorf("got %v, want a refusal that names the topic", err)
	}
}

func TestEveryTopicIsInPlatformSchema(t *testing.T) {
	t.Parallel()
	words := loadSchema(t).Types["WebhookSubscriptionTopic"].EnumValues
	for _, topic := range slices.Concat(platform.Topics, platform.SpareTopics) {
		if words.ForName(topicWord(topic)) == nil {
			t.Errorf("%s becomes %s, which the schema does not have", topic, topicWord(topic))
		}
	}
}

func TestRefusedTopicDoesNotStopOtherTopics(t *testing.T) {
	t.Parallel()
	const refused = `{"data":{"webhookSubscriptionCreate":{"userErrors":[{"field":["topic"],"message":"You cannot create a webhook subscription with the specified topic"}]}}}`
	c, s := scripted(t, subscriptionsJSON(), refused, `{"data":{"webhookSubscriptionCreate":{"userErrors":[]}}}`)
	err := c.Subscribe(t.Context(), demo, hooks, []platform.Topic{platform.ContractUpdated, platform.Uninstalled})
	if !isRefusal(err, "") || !strings.Contains(err.Error(), "SUBSCRIPTION_CONTRACTS_UPDATE") {
		t.Errorf("got %v, want a refusal that names the first topic", err)
	}
	if len(s.variables) != 3 || !strings.Contains(s.variables[2], "APP_UNINSTALLED") {
		t.Errorf("asked %v, want the second topic to be subscribed to", s.variables)
	}
}
