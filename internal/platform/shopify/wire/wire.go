// Package wire holds the shapes of the platform's answers that a generator makes
// unwieldy: unions, each as one struct with the selected fields of all its members.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Number is an unsigned integer that the platform writes as a string, as a
// number, or as null.
type Number uint64

// UnmarshalJSON reads a number with or without quotes; null leaves it alone.
func (n *Number) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	if string(b) == "null" || len(b) == 0 {
		return nil
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("read an unsigned number: %w", err)
	}
	*n = Number(v)
	return nil
}

// The members of the union of a billing attempt's states.
const (
	StatePending        = "SubscriptionBillingAttemptPendingState"
	StateActionRequired = "SubscriptionBillingAttemptActionRequiredState"
	StateFailed         = "SubscriptionBillingAttemptFailedState"
	StateSuccess        = "SubscriptionBillingAttemptSuccessState"
)

// AttemptState is any state of a billing attempt; Type says which fields count.
type AttemptState struct {
	Type   string `json:"__typename"`
	Action struct {
		NextActionURL string `json:"nextActionUrl"`
	} `json:"action"`
	Error AttemptError `json:"error"`
	Order *Order       `json:"order"`
}

// AttemptError is any reason why an attempt failed. The codes have different
// types in the schema, and therefore different names here.
type AttemptError struct {
	PaymentCode   string `json:"paymentCode"`
	GeneralCode   string `json:"generalCode"`
	InventoryCode string `json:"inventoryCode"`
	Message       string `json:"message"`
}

// Code returns the code of whichever member the error is, or "".
func (e AttemptError) Code() string { return e.PaymentCode + e.GeneralCode + e.InventoryCode }

// Order is the order that a successful attempt created.
type Order struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	TotalPriceSet struct {
		PresentmentMoney Money `json:"presentmentMoney"`
	} `json:"totalPriceSet"`
}

// OrderLine is a line of an order.
type OrderLine struct {
	ID           string               `json:"id"`
	Title        string               `json:"title"`
	VariantTitle string               `json:"variantTitle"`
	SKU          string               `json:"sku"`
	Quantity     int                  `json:"quantity"`
	Taxable      bool                 `json:"taxable"`
	Image        struct{ URL string } `json:"image"`
	Contract     *struct{ ID string } `json:"contract"` // nil: the line is of none
	Product      struct{ ID string }  `json:"product"`
	Variant      struct{ ID string }  `json:"variant"`
	Plan         struct {
		Name string `json:"name"`
		ID   string `json:"sellingPlanId"`
	} `json:"sellingPlan"`
	UnitPrice struct {
		PresentmentMoney Money `json:"presentmentMoney"`
	} `json:"originalUnitPriceSet"`
}

// Fulfillment is a part of an order that was sent.
type Fulfillment struct {
	ID            string    `json:"id"`
	Status        string    `json:"status"`
	DisplayStatus string    `json:"displayStatus"`
	CreatedAt     time.Time `json:"createdAt"`
	EstimatedAt   time.Time `json:"estimatedDeliveryAt"`
	DeliveredAt   time.Time `json:"deliveredAt"`
	Tracking      []struct {
		Company string `json:"company"`
		Number  string `json:"number"`
		URL     string `json:"url"`
	} `json:"trackingInfo"`
	Lines struct {
		Nodes []struct {
			ID       string `json:"id"`
			Quantity int    `json:"quantity"`
			Line     struct {
				ID    string `json:"id"`
				Title string `json:"title"`
				SKU   string `json:"sku"`
			} `json:"lineItem"`
		} `json:"nodes"`
	} `json:"fulfillmentLineItems"`
}

// Money is a decimal amount and its currency.
type Money struct {
	Amount       string `json:"amount"`
	CurrencyCode string `json:"currencyCode"`
}

// DeliveryMethod is any way of delivery.
type DeliveryMethod struct {
	Address struct {
		CountryCode string `json:"countryCodeV2"`
	} `json:"address"`
}

// Instrument is any means of payment; Type names it. Fields that the type does
// not have are empty.
type Instrument struct {
	Type           string `json:"__typename"`
	Brand          string `json:"brand"`
	BankName       string `json:"bankName"`
	LastDigits     string `json:"lastDigits"`
	ExpiryMonth    int    `json:"expiryMonth"`
	ExpiryYear     int    `json:"expiryYear"`
	ExpiresSoon    bool   `json:"expiresSoon"`
	Masked         string `json:"maskedNumber"`
	Name           string `json:"name"`
	PaypalEmail    string `json:"paypalAccountEmail"`
	BillingAddress struct {
		CountryCode string `json:"countryCode"`
	} `json:"billingAddress"`
}

// Pricing is how a unit price changes with the cycles.
type Pricing struct {
	Base   Money `json:"basePrice"`
	Cycles []struct {
		After int    `json:"afterCycle"`
		Kind  string `json:"adjustmentType"`
		Value struct {
			Money
			Percentage float64 `json:"percentage"`
		} `json:"adjustmentValue"`
		Computed Money `json:"computedPrice"`
	} `json:"cycleDiscounts"`
}

// Discounts are a contract's discounts.
type Discounts struct {
	Nodes []Discount `json:"nodes"`
}

// Discount is a discount of a contract; its value is a percentage or an amount.
type Discount struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Type       string `json:"type"`
	TargetType string `json:"targetType"`
	Limit      int    `json:"recurringCycleLimit"`
	Used       int    `json:"usageCount"`
	Rejected   string `json:"rejectionReason"`
	Value      struct {
		Percentage int   `json:"percentage"`
		Amount     Money `json:"amount"`
		EachItem   bool  `json:"appliesOnEachItem"`
	} `json:"value"`
	Entitled Entitled `json:"entitledLines"`
}

// Entitled is which lines a discount is for.
type Entitled struct {
	All   bool `json:"all"`
	Lines struct {
		Nodes []struct {
			ID string `json:"id"`
		} `json:"nodes"`
	} `json:"lines"`
}

// ContractPayload answers a mutation that returns a contract, or what one cycle
// orders instead of it.
type ContractPayload struct {
	Contract   json.RawMessage `json:"contract"`
	UserErrors []UserError     `json:"userErrors"`
}

// PaymentMethod is a payment method with all that is read of one.
type PaymentMethod struct {
	ID            string     `json:"id"`
	RevokedAt     time.Time  `json:"revokedAt"`
	RevokedReason string     `json:"revokedReason"`
	Instrument    Instrument `json:"instrument"`
}

// OrderInput changes an order's note.
type OrderInput struct {
	ID   string `json:"id"`
	Note string `json:"note"`
}

// UserError is any mutation's reason for not doing what was asked.
type UserError struct {
	Code    string   `json:"code"`
	Field   []string `json:"field"`
	Message string   `json:"message"`
}

// DeliveryOptions are the ways in which a draft's orders can be delivered to an address, or why they
// are not known.
type DeliveryOptions struct {
	Options []struct {
		Code  string `json:"code"` // empty: it is no way of shipping
		Title string `json:"title"`
		Price *Money `json:"price"`
	} `json:"deliveryOptions"` // null: they are not known
	Message string `json:"message"`
}
