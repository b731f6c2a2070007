package simulator

import "github.com/perennialhq/perennial/internal/base/gid"

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
}
