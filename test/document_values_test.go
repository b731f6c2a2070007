package test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// valid is a request as the document says: what is required, and what the example
// adds.
func (o *operation) valid(e example) request {
	r := request{params: map[string]string{}, key: o.key}
	for _, p := range o.op.Parameters {
		if !p.Value.Required {
			continue
		}
		r.params[p.Value.Name] = fmt.Sprint(o.value(p.Value.Name, p.Value.Schema.Value))
	}
	if e.params != nil {
		maps.Copy(r.params, e.params(&o.mine))
	}
	if e.body != nil {
		r.body = e.body(&o.mine)
	} else if o.op.RequestBody != nil {
		r.body = o.sample(o.bodySchema(), "")
	}
	return r
}

func (o *operation) bodySchema() *openapi3.Schema {
	return o.op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// value returns a good value of a parameter or field.
func (o *operation) value(name string, s *openapi3.Schema) any {
	f := o.mine
	switch name {
	case "id":
		switch {
		case strings.Contains(o.path, "subscription-groups"):
			return f.group
		case strings.Contains(o.path, "product-swaps"):
			return f.swap
		case strings.Contains(o.path, "bundle"):
			return f.bundle
		case strings.Contains(o.path, "api-keys"):
			return f.apiKey
		case strings.Contains(o.path, "partner-connections"):
			return f.connection
		case strings.Contains(o.path, "webhook-endpoints"):
			return f.endpoint
		case strings.Contains(o.path, "webhook-deliveries"):
			return f.delivery
		case strings.Contains(o.path, "notifications"):
			return f.message
		case strings.Contains(o.path, "customers"), strings.Contains(o.path, "point-transaction"):
			return f.customer
		}
		return f.attempts[0]
	case "contractId", "subscriptionContractId":
		return f.contract
	case "lineId", "oldLineId":
		return f.lines[0]
	case "variantId", "newVariantId":
		return f.variants[2]
	case "oldVariantId":
		return f.variants[0]
	case "productIds":
		return f.products[0]
	case "variantIds":
		return f.variants[0]
	case "billingAttemptId":
		return f.attempts[0]
	case "customerId", "customer_id":
		return f.customer
	case "sellingPlanId", "sellingPlanIds":
		return f.plan
	case "discountId":
		return f.discount
	case "discountCode":
		return "WELCOME10"
	case "paymentMethodId":
		return f.payment
	case "email", "customerEmail", "customer_email":
		return f.email
	case "nextBillingDate", "billingDate":
		return o.now().AddDate(0, 0, 20).Format("2006-01-02")
	case "shop":
		return f.domain
	}
	return o.sample(s, name)
}

// sample makes a value that a schema allows, from its example if it has one.
func (o *operation) sample(s *openapi3.Schema, name string) any {
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		return o.sample(s.OneOf[0].Value, name)
	case s.Type.Is("object") || len(s.Properties) > 0:
		made := map[string]any{}
		for field, p := range s.Properties {
			if slices.Contains(s.Required, field) {
				made[field] = o.value(field, p.Value)
			}
		}
		return made
	case includes(s, "array"):
		return []any{o.value(strings.TrimSuffix(name, "s"), s.Items.Value)}
	case includes(s, "integer"), includes(s, "number"):
		if s.Min != nil {
			return *s.Min
		}
		return 1
	case includes(s, "boolean"):
		return true
	case s.Format == "date-time":
		return o.now().AddDate(0, 0, 20)
	}
	return strings.Repeat("x", max(1, int(s.MinLength)))
}

func includes(s *openapi3.Schema, kind string) bool { return s.Type != nil && s.Type.Includes(kind) }

// wrongType returns a value that a schema's types exclude; nil when it allows
// nearly all.
func wrongType(s *openapi3.Schema) any {
	switch {
	case s.Type == nil:
		return nil
	case includes(s, "object"), includes(s, "array"):
		return 5
	}
	return map[string]any{"a": 1}
}
