package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/payment"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

const methodPrefix, walletKind = "gid://shopify/CustomerPaymentMethod/", "CustomerPaypalBillingAgreement"

// paymentMethods are the payment methods of a customer, and note what was asked for.
type paymentMethods struct {
	subscription.Changes

	list  []contract.PaymentMethod
	asked []string
	err   error
	fails error // of reading them
}

func (m *paymentMethods) PaymentMethods(context.Context, do.Caller) ([]contract.PaymentMethod, error) {
	return m.list, m.fails
}

func (m *paymentMethods) SetPaymentMethod(_ context.Context, _ do.Caller, _ do.ContractRef, id string) (contract.Detail, error) {
	m.asked = append(m.asked, id)
	return contract.Detail{}, m.err
}

func (m *paymentMethods) SendPaymentUpdate(context.Context, do.Caller, do.ContractRef) error {
	m.asked = append(m.asked, "link")
	return m.err
}

func (m *paymentMethods) ApplyDiscount(_ context.Context, _ do.Caller, _ do.ContractRef, code string) (contract.Detail, error) {
	m.asked = append(m.asked, code)
	return contract.Detail{}, m.err
}

func (m *paymentMethods) RemoveDiscount(_ context.Context, _ do.Caller, _ do.ContractRef, id string) (contract.Detail, error) {
	m.asked = append(m.asked, "without "+id)
	return contract.Detail{}, m.err
}

func openPayment(t *testing.T, m *paymentMethods) *portaltest.Site {
	t.Helper()
	return openRooms(t, nil, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: m}), payment.New(payment.Options{Sheets: s.Overview, Changes: m})}
	})
}

const paymentPath = "/s/1/payment"

func TestSubscriptionIsChargedToAnotherSavedPaymentMethod(t *testing.T) {
	t.Parallel()
	m := &paymentMethods{list: []contract.PaymentMethod{
		{ID: methodPrefix + "1", Brand: "visa", LastDigits: "4242", Kind: "CustomerCreditCard"},
		{ID: methodPrefix + "2", Brand: "mastercard", LastDigits: "5100", Kind: "CustomerCreditCard", ExpiryMonth: 4, ExpiryYear: 2031},
		{ID: methodPrefix + "3", Kind: walletKind},
		{ID: methodPrefix + "4", Brand: "visa", LastDigits: "0002", Kind: "CustomerCreditCard", Revoked: true},
	}}
	s := openPayment(t, m)
	p := s.Get(portaltest.At + paymentPath)
	s.Want(p, http.StatusOK, "is paid with: Visa ending in 4242.", "Mastercard ending in 5100. Expires 04/2031", "PayPal", "sent to maya@shopper.example")
	for _, not := range []string{`value="` + methodPrefix + `1"`, "0002"} {
		if strings.Contains(p.Text, not) {
			t.Errorf("the page offers %s", not)
		}
	}
	s.Want(s.Send(p, paymentPath, "paymentMethodId", methodPrefix+"2"), http.StatusOK, "Your payment method is changed.")
	s.Want(s.Send(s.Get(portaltest.At+paymentPath), paymentPath+"/link"), http.StatusOK, "The link is on its way.")
	if got := strings.Join(m.asked, " "); got != methodPrefix+"2 link" {
		t.Errorf("asked for %s", got)
	}
	m.err = fault.New(fault.FailedPrecondition, "revoked").Code("paymentMethodMissing").Field("paymentMethodId")
	s.Want(s.Send(s.Get(portaltest.At+paymentPath), paymentPath, "paymentMethodId", methodPrefix+"3"), http.StatusUnprocessableEntity, "There is no payment method that can be charged.", `value="`+methodPrefix+`3" checked`)
}

func TestPaymentPageIsOfUseWithoutSavedPaymentMethods(t *testing.T) {
	t.Parallel()
	m := &paymentMethods{fails: fault.New(fault.Unavailable, "the platform does not answer")}
	s := openPayment(t, m)
	s.Want(s.Get(portaltest.At+paymentPath), http.StatusOK, "can’t be read just now", "Send me a secure link")
	m.fails = nil
	s.Want(s.Get(portaltest.At+paymentPath), http.StatusOK, "no other payment method of yours", "Send me a secure link")
}

func TestDiscountCodeIsUsedOrAskedForAgain(t *testing.T) {
	t.Parallel()
	m := &paymentMethods{}
	s := openPayment(t, m)
	p := s.Get(portaltest.At + "/s/1")
	s.Want(s.Send(p, "/s/1/discount", "discountCode", "TEN"), http.StatusOK, "The code is used.")
	m.err = fault.New(fault.FailedPrecondition, "applied").Code("discountApplied").Field("discountCode")
	again := s.Send(s.Get(portaltest.At+"/s/1"), "/s/1/discount", "discountCode", "T<b>EN")
	s.Want(again, http.StatusUnprocessableEntity, "This code is used already.", `id="e-discountCode"`, `value="T&lt;b&gt;EN"`)
	m.err = nil
	s.Want(s.Send(again, "/s/1/discount", "discountCode", "TWENTY"), http.StatusOK)
	if got := strings.Join(m.asked, " "); got != "TEN T<b>EN TWENTY" {
		t.Errorf("asked for %s", got)
	}
}

func TestDiscountCodeIsTakenOff(t *testing.T) {
	t.Parallel()
	m := &paymentMethods{}
	s := openPayment(t, m)
	is := portaltest.Subscription(2)
	is.Discounts = []contract.Discount{
		{ID: "gid://shopify/SubscriptionManualDiscount/1-1", Code: "TEATIME", Percent: 10, AllLines: true}, {ID: "gid://shopify/SubscriptionManualDiscount/1-2", Title: "For you", Percent: 5, AllLines: true},
	}
	s.Put(s.First, []contract.Contract{is}, portaltest.Orders(2, 3)...)
	page := s.Get(portaltest.At + "/s/2")
	s.Want(page, http.StatusOK, "TEATIME", "For you", "/s/2/discount/remove?discount=1-1")
	if strings.Contains(page.Text, "discount=1-2") {
		t.Error("a discount that the store has given can be taken off")
	}
	const path = "/s/2/discount/remove?discount=1-1"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Take the code TEATIME off?", "costs $23.40 instead of $21.31")
	s.Want(s.Send(p, path), http.StatusOK, "The code is taken off.")
	if got := strings.Join(m.asked, "\n"); got != "without 1-1" {
		t.Errorf("carried out: %s", got)
	}
	s.Want(s.Get(portaltest.At+"/s/2/discount/remove?discount=1-2"), http.StatusNotFound)
}
