package portaltest

import (
	"log/slog"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// Points returns the loyalty programmes of the stores. The platform makes every discount code at
// once.
func (s *Site) Points() *loyalty.Service {
	return &loyalty.Service{Store: s.DB.Loyalty(), Reader: s.DB, Platform: storetest.DiscountCodes(), Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}
}
