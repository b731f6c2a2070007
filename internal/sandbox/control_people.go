package sandbox

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// customer answers with a buyer as the platform knows it.
func (s *Sandbox) customer(r *http.Request) (simulator.Customer, error) {
	n, err := pathID(r, "Customer")
	if err != nil {
		return simulator.Customer{}, err
	}
	return s.sim.Customer(n)
}

// methodOut is a payment method that was made.
type methodOut struct {
	ID string `json:"id"` // graph id
}

func (s *Sandbox) addPaymentMethod(r *http.Request) (methodOut, error) {
	n, err := pathID(r, "Customer")
	if err != nil {
		return methodOut{}, err
	}
	var in struct {
		Kind simulator.MethodKind `json:"kind"`
	}
	if err := body(r, &in); err != nil {
		return methodOut{}, err
	}
	made, err := s.sim.AddPaymentMethod(n, in.Kind)
	if err != nil {
		return methodOut{}, err
	}
	return methodOut{made}, s.steps.Settle(r.Context())
}

// redactCustomer erases who a buyer is at the platform, and answers with what is left.
func (s *Sandbox) redactCustomer(r *http.Request) (simulator.Customer, error) {
	n, err := pathID(r, "Customer")
	if err != nil {
		return simulator.Customer{}, err
	}
	if err := s.sim.Redact(n); err != nil {
		return simulator.Customer{}, err
	}
	if err := s.steps.Settle(r.Context()); err != nil {
		return simulator.Customer{}, err
	}
	return s.sim.Customer(n)
}

// mergeCustomer merges a buyer with another one at the platform, and answers with the
// resulting customer.
func (s *Sandbox) mergeCustomer(r *http.Request) (simulator.Customer, error) {
	n, err := pathID(r, "Customer")
	if err != nil {
		return simulator.Customer{}, err
	}
	var in struct {
		Into customerID `json:"into"`
	}
	if err := body(r, &in); err != nil {
		return simulator.Customer{}, err
	}
	if err := s.sim.Merge(n, int64(in.Into)); err != nil {
		return simulator.Customer{}, err
	}
	if err := s.steps.Settle(r.Context()); err != nil {
		return simulator.Customer{}, err
	}
	return s.sim.Customer(int64(in.Into))
}

// codeIn is a discount code.
type codeIn struct {
	Shop         string  `json:"shop"`
	Code         string  `json:"code"`
	Percent      int     `json:"percent"`
	Amount       decimal `json:"amount"`
	EachItem     bool    `json:"eachItem"`
	FreeShipping bool    `json:"freeShipping"`
	CycleLimit   int     `json:"cycleLimit"`
	UsageLimit   int     `json:"usageLimit"`
	Inactive     bool    `json:"inactive"`
}

func (s *Sandbox) addCode(r *http.Request) (codeIn, error) {
	var in codeIn
	if err := body(r, &in); err != nil {
		return in, err
	}
	if in.CycleLimit < 0 || in.UsageLimit < 0 {
		return in, fault.New(fault.Invalid, "a limit is not negative").Field("cycleLimit")
	}
	return in, s.sim.AddCode(simulator.CodeSpec{
		Shop: in.Shop, Code: in.Code, Percent: in.Percent, Amount: string(in.Amount), EachItem: in.EachItem,
		FreeShipping: in.FreeShipping, CycleLimit: in.CycleLimit, UsageLimit: in.UsageLimit, Inactive: in.Inactive,
	})
}

// updateEmails answers with the e-mails that the platform itself has sent, for
// customers to update a payment method.
func (s *Sandbox) updateEmails(r *http.Request) ([]simulator.UpdateEmail, error) {
	sent, err := s.sim.UpdateEmails(r.URL.Query().Get("shop"))
	return append([]simulator.UpdateEmail{}, sent...), err
}
