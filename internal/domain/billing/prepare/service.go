package prepare

import "github.com/perennialhq/perennial/internal/domain/billing"

// Service prepares orders.
type Service struct{ *billing.Env }
