package simulator

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
)

// fulfilments adds what is known of the sending of orders: one fulfilment order
// each, which stays open.
func (r registry) fulfilments() {
	r["Order"]["fulfillmentOrders"] = on(func(x *exec, o *order, a args) any {
		return x.paginate("FulfillmentOrder", []entry{{0, o.ID, typed("FulfillmentOrder", o)}}, a)
	})
	created := get(func(o *order) any { return o.CreatedAt })
	r["FulfillmentOrder"] = fields{
		"id":            get(func(o *order) any { return gid.Of("FulfillmentOrder", o.ID) }),
		"order":         get(func(o *order) any { return typed("Order", o) }),
		"orderId":       get(func(o *order) any { return o.gid() }),
		"orderName":     get(func(o *order) any { return o.Name }),
		"status":        always("OPEN"),
		"requestStatus": always("UNSUBMITTED"),
		"createdAt":     created,
		"updatedAt":     created,
		"fulfillAt":     created,
		"fulfillBy":     always(nil),
	}
	r["Order"]["fulfillments"] = on(func(_ *exec, o *order, a args) any {
		list := make([]object, 0, len(o.Fulfillments))
		for i, f := range o.Fulfillments {
			if !a.has("first") || i < a.int("first") {
				list = append(list, object{"Fulfillment", sent{f, o}})
			}
		}
		return list
	})
	r["Order"]["displayFulfillmentStatus"] = get(func(o *order) any {
		if len(o.Fulfillments) > 0 {
			return "FULFILLED"
		}
		return "UNFULFILLED"
	})
	r["Fulfillment"] = fields{
		"id":                  get(func(f sent) any { return gid.Of("Fulfillment", f.ID) }),
		"legacyResourceId":    get(func(f sent) any { return itoa(f.ID) }),
		"name":                get(func(f sent) any { return f.order.Name + ".1" }),
		"status":              always("SUCCESS"),
		"displayStatus":       get(func(f sent) any { return textOrNull(f.Display) }),
		"createdAt":           get(func(f sent) any { return f.CreatedAt }),
		"updatedAt":           get(func(f sent) any { return f.CreatedAt }),
		"estimatedDeliveryAt": get(func(f sent) any { return f.Estimated }),
		"deliveredAt":         get(func(f sent) any { return f.DeliveredAt }),
		"order":               get(func(f sent) any { return typed("Order", f.order) }),
		"trackingInfo": get(func(f sent) any {
			if f.Company == "" && f.Number == "" && f.URL == "" {
				return []object{}
			}
			return []object{{"FulfillmentTrackingInfo", f}}
		}),
		"fulfillmentLineItems": on(func(x *exec, f sent, a args) any {
			entries := make([]entry, len(f.order.Lines))
			for i, l := range f.order.Lines {
				entries[i] = entry{int64(i), l.ID, object{"FulfillmentLineItem", lineOf{l, f.order, x.shop}}}
			}
			return x.paginate("FulfillmentLineItem", entries, a)
		}),
	}
	r["FulfillmentTrackingInfo"] = fields{
		"company": get(func(f sent) any { return textOrNull(f.Company) }),
		"number":  get(func(f sent) any { return textOrNull(f.Number) }),
		"url":     get(func(f sent) any { return textOrNull(f.URL) }),
	}
	r["FulfillmentLineItem"] = fields{
		"id":       get(func(l lineOf) any { return gid.Of("FulfillmentLineItem", l.ID) }),
		"quantity": get(func(l lineOf) any { return l.Quantity }),
		"lineItem": get(func(l lineOf) any { return object{"LineItem", l} }),
	}
}

// sent is a fulfillment with its order.
type sent struct {
	fulfillment
	order *order
}

// FulfillmentSpec is a parcel with all lines of an order.
type FulfillmentSpec struct {
	DisplayStatus       string    `json:"displayStatus,omitempty"` // such as IN_TRANSIT; default FULFILLED
	Company             string    `json:"company,omitempty"`
	Number              string    `json:"number,omitempty"`
	URL                 string    `json:"url,omitempty"`
	EstimatedDeliveryAt time.Time `json:"estimatedDeliveryAt,omitzero"`
	DeliveredAt         time.Time `json:"deliveredAt,omitzero"`
}

// Fulfill sends an order, in place of what was sent of it before.
func (s *Simulator) Fulfill(orderID int64, spec FulfillmentSpec) error {
	return s.update(func() error {
		for _, sh := range s.state.order {
			if o, ok := sh.orders.get(orderID); ok {
				o.Fulfillments = []fulfillment{{
					ID: o.ID, Display: or(spec.DisplayStatus, "FULFILLED"), Company: spec.Company, Number: spec.Number, URL: spec.URL,
					CreatedAt: s.now(), Estimated: spec.EstimatedDeliveryAt, DeliveredAt: spec.DeliveredAt,
				}}
				o.UpdatedAt = s.now()
				s.save(o)
				return nil
			}
		}
		return fault.New(fault.NotFound, "there is no order %d", orderID)
	})
}
