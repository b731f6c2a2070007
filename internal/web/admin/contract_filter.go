package admin

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// contractQuery is a search for contracts, in the interface's words.
type contractQuery struct {
	web.Paging
	FromCreated   string           `query:"fromCreatedDate" doc:"Created at or after."`
	ToCreated     string           `query:"toCreatedDate" doc:"Created at or before."`
	FromUpdated   string           `query:"fromUpdatedDate" doc:"Updated at or after."`
	ToUpdated     string           `query:"toUpdatedDate" doc:"Updated at or before."`
	FromNext      string           `query:"fromNextDate" doc:"Next billing date at or after; needs toNextDate."`
	ToNext        string           `query:"toNextDate" doc:"Next billing date at or before; needs fromNextDate."`
	ID            string           `query:"subscriptionContractId" maxLength:"255" doc:"Part of the contract's number, or its graph id."`
	OtherID       string           `query:"contractId" maxLength:"255" doc:"Another spelling of subscriptionContractId. Both may be given when they say the same."`
	CustomerName  string           `query:"customerName" maxLength:"255" doc:"Part of the customer's name or e-mail address."`
	OrderName     string           `query:"orderName" maxLength:"255" doc:"Part of the name of the first order or of any later one."`
	Status        string           `query:"status" doc:"ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED."`
	IntervalCount int64            `query:"billingPolicyIntervalCount" minimum:"1" maximum:"365" doc:"The delivery interval's count, despite its name."`
	Interval      string           `query:"billingPolicyInterval" doc:"The delivery interval, despite its name: DAY, WEEK, MONTH or YEAR."`
	PlanType      string           `query:"planType" doc:"prepaid or non-prepaid: whether the billing interval count differs from the delivery interval count."`
	RecordType    string           `query:"recordType" doc:"imported or nonImported."`
	ProductID     string           `query:"productId" doc:"A product in the lines: number or graph id."`
	VariantID     string           `query:"variantId" doc:"A variant in the lines: number or graph id."`
	SellingPlanID string           `query:"sellingPlanId" doc:"A selling plan in the lines: number or graph id."`
	MinAmount     web.Opt[float64] `query:"minOrderAmount" doc:"The sum of quantity times price of the lines is at least this."`
	MaxAmount     web.Opt[float64] `query:"maxOrderAmount" doc:"The sum of quantity times price of the lines is at most this."`
	CustomerID    string           `query:"customerId" doc:"The customer: number or graph id."`
	CustomerEmail string           `query:"customerEmail" maxLength:"255" doc:"The customer's whole e-mail address."`
}

// Words of the filters planType and recordType.
const (
	planPrepaid, planNonPrepaid       = "prepaid", "non-prepaid"
	recordImported, recordNonImported = "imported", "nonImported"
)

// filter reads the query. Days are days of the zone, whole ones.
func (q contractQuery) filter(zone *time.Location) (contract.Filter, error) {
	f := contract.Filter{CustomerPart: q.CustomerName, OrderPart: q.OrderName, CustomerEmail: q.CustomerEmail, DeliveryCount: int(q.IntervalCount)}
	if err := q.dates(&f, zone); err != nil {
		return f, err
	}
	if err := q.ids(&f); err != nil {
		return f, err
	}
	if err := q.words(&f); err != nil {
		return f, err
	}
	var err error
	if f.MinAmount, err = milli("minOrderAmount", q.MinAmount); err != nil {
		return f, err
	}
	f.MaxAmount, err = milli("maxOrderAmount", q.MaxAmount)
	return f, err
}

func (q contractQuery) dates(f *contract.Filter, zone *time.Location) error {
	for _, d := range []struct {
		param, value string
		end          bool // of a whole day, its last instant
		at           *time.Time
	}{
		{"fromCreatedDate", q.FromCreated, false, &f.CreatedFrom}, {"toCreatedDate", q.ToCreated, true, &f.CreatedTo},
		{"fromUpdatedDate", q.FromUpdated, false, &f.UpdatedFrom}, {"toUpdatedDate", q.ToUpdated, true, &f.UpdatedTo},
		{"fromNextDate", q.FromNext, false, &f.NextFrom}, {"toNextDate", q.ToNext, true, &f.NextTo},
	} {
		if d.value == "" {
			continue
		}
		m, err := web.ParseMoment(d.param, d.value, zone)
		if err != nil {
			return err
		}
		*d.at = m.From
		if d.end {
			*d.at = m.To
		}
	}
	if (q.FromNext == "") != (q.ToNext == "") {
		missing := "toNextDate"
		if q.FromNext == "" {
			missing = "fromNextDate"
		}
		return fault.New(fault.Invalid, "fromNextDate and toNextDate must be given together").Code("nextDateRange").Field(missing)
	}
	return nil
}

func (q contractQuery) ids(f *contract.Filter) error {
	for _, d := range []struct {
		object, param, value string
		id                   *int64
	}{
		{"Product", "productId", q.ProductID, &f.ProductID}, {"ProductVariant", "variantId", q.VariantID, &f.VariantID},
		{"SellingPlan", "sellingPlanId", q.SellingPlanID, &f.SellingPlanID}, {"Customer", "customerId", q.CustomerID, &f.CustomerID},
	} {
		id, err := web.ParseID(d.object, d.param, d.value)
		if err != nil {
			return err
		}
		*d.id = id
	}
	part, err := numberPart("subscriptionContractId", q.ID)
	if err != nil {
		return err
	}
	other, err := numberPart("contractId", q.OtherID)
	if err != nil {
		return err
	}
	if part != "" && other != "" && part != other {
		return differ("subscriptionContractId", "contractId")
	}
	f.IDPart = cmp.Or(part, other)
	return nil
}

// numberPart returns the part of contract numbers that a parameter asks for: the text,
// or the number of a graph id.
func numberPart(param, text string) (string, error) {
	if !strings.HasPrefix(text, "gid://") {
		return text, nil
	}
	_, err := web.ParseID(record.ContractTypename, param, text)
	return text[strings.LastIndex(text, "/")+1:], err
}

func (q contractQuery) words(f *contract.Filter) error {
	var err error
	if q.Status != "" {
		if f.Status, err = web.ParseEnum("status", q.Status, contract.Statuses); err != nil {
			return err
		}
	}
	if q.Interval != "" {
		interval, err := cadence.ParseInterval(q.Interval)
		if err != nil {
			return fault.New(fault.Invalid, "%q is not an interval: use DAY, WEEK, MONTH or YEAR", q.Interval).Field("billingPolicyInterval")
		}
		f.DeliveryInterval = &interval
	}
	if f.Prepaid, err = choice("planType", q.PlanType, planPrepaid, planNonPrepaid); err != nil {
		return err
	}
	f.Imported, err = choice("recordType", q.RecordType, recordImported, recordNonImported)
	return err
}

// choice reads one of two words as a yes or a no, or neither when it is empty.
func choice(param, value, yes, no string) (*bool, error) {
	if value == "" {
		return nil, nil
	}
	word, err := web.ParseEnum(param, value, []string{yes, no})
	return new(word == yes), err
}

// maxAmount is beyond every price that a contract can have, in main units.
const maxAmount = 1e12

// milli returns an amount in thousandths, to the nearest.
func milli(param string, v web.Opt[float64]) (*int64, error) {
	if !v.Set {
		return nil, nil
	}
	if v.Value < 0 || v.Value > maxAmount {
		return nil, fault.New(fault.Invalid, "parameter '%s' must be from 0 to %.0f", param, maxAmount).Field(param)
	}
	return new(int64(math.Round(v.Value * 1000))), nil
}
