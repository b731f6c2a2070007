// Package create creates contracts, new ones and those that restart a terminated one.
package create

import "github.com/perennialhq/perennial/internal/domain/amend/terms"

// Service creates contracts.
type Service struct {
	*terms.Pricer
	Creations Creations
}
