package flow

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MaxHoldBack is the largest share of customers that can be left without an offer, in
// percent. More would compare no better and keep fewer.
const MaxHoldBack = 50

// HoldsBack reports whether a customer gets no offer, for comparison. It depends on the
// store, the customer and the version alone, so that a customer who comes back is treated
// alike, and each version draws again.
func (f Flow) HoldsBack(of shop.ID, customer int64) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "cancel-flow:%d:%d:%d", of, customer, f.Version))
	const shares = 10_000
	return binary.BigEndian.Uint64(sum[:8])%shares < uint64(f.HoldBack)*shares/100
}
