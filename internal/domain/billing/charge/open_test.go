package charge

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// open returns the service on books with a contract that renews every month and with attempts.
func open(change func(*contract.Contract), attempts ...billing.Attempt) (*Service, *billingtest.Books) {
	env, b := billingtest.Open(change, attempts...)
	return New(env), b
}
