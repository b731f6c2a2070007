package billing

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Status is how far an attempt is.
type Status string

// The attempt statuses of the interface.
const (
	Success            Status = "SUCCESS"
	Failure            Status = "FAILURE"
	Requesting         Status = "REQUESTING"
	Progress           Status = "PROGRESS"
	Queued             Status = "QUEUED"
	Skipped            Status = "SKIPPED"
	ConnectionGone     Status = "SOCIAL_CONNECTION_NULL"
	ContractCancelled  Status = "CONTRACT_CANCELLED"
	ContractEnded      Status = "CONTRACT_ENDED"
	ContractPaused     Status = "CONTRACT_PAUSED"
	AutoChargeDisabled Status = "AUTO_CHARGE_DISABLED"
	SkippedDunning     Status = "SKIPPED_DUNNING_MGMT"
	Challenge          Status = "SECURITY_CHALLENGE"
	PlatformException  Status = "SHOPIFY_EXCEPTION"
)

// Statuses lists every status, in the order of the interface.
var Statuses = []Status{
	Success, Failure, Requesting, Progress, Queued, Skipped, ConnectionGone, ContractCancelled, ContractEnded,
	ContractPaused, AutoChargeDisabled, SkippedDunning, Challenge, PlatformException,
}

// Open lists the statuses of attempts whose order may still be made automatically.
var Open = []Status{Queued, Requesting, Progress, Challenge, PlatformException}

// Unfinished lists the statuses of attempts that may still be changed: the open ones, and those of
// attempts that were skipped or declined.
var Unfinished = append([]Status{Skipped, Failure}, Open...)

// spellings are other names of statuses that callers may send.
var spellings = map[string]Status{"SCHEDULED": Queued, "PROCESSING": Progress, "FAILED": Failure}

// ParseStatus reads a status in any letter case and spelling.
func ParseStatus(s string) (Status, error) {
	upper := strings.ToUpper(s)
	if known, ok := spellings[upper]; ok {
		return known, nil
	}
	for _, known := range Statuses {
		if upper == string(known) {
			return known, nil
		}
	}
	return "", fault.New(fault.Invalid, "%q is not a billing attempt status", s).Field("status")
}

// next lists every change between statuses. Success has none.
var next = map[Status][]Status{
	Queued: {
		Requesting, Skipped, Success, ConnectionGone, ContractCancelled, ContractEnded, ContractPaused, AutoChargeDisabled, SkippedDunning,
	},
	Requesting: {
		Requesting, Queued, Progress, Success, Failure, Challenge, PlatformException, Skipped,
		ConnectionGone, ContractCancelled, ContractEnded, ContractPaused,
	},
	Progress:          {Success, Failure, Challenge, PlatformException},
	Challenge:         {Success, Failure},
	Failure:           {Requesting, Success, SkippedDunning},
	PlatformException: {Requesting, Progress, Success, Failure, Challenge, Skipped, ConnectionGone, ContractCancelled, ContractEnded, ContractPaused},
	Skipped:           {Queued, Success},

	// An order at the platform outranks our status.
	ConnectionGone:     {Requesting, Success},
	ContractCancelled:  {Success},
	ContractEnded:      {Success},
	ContractPaused:     {Success},
	AutoChargeDisabled: {Requesting, Success},
	SkippedDunning:     {Success},
}

// ChangeStatus changes the status, or returns why it cannot.
func (a *Attempt) ChangeStatus(to Status) error {
	for _, allowed := range next[a.Status] {
		if allowed == to {
			a.clearSkippedAmount()
			a.Status = to
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "billing attempt %d is %s and cannot become %s", a.ID, a.Status, to).
		Entity("subscriptionBillingAttempt").Code("billingAttemptStatus")
}

// InFlight reports whether a charge with an unknown outcome may exist at the platform.
func (s Status) InFlight() bool {
	return s == Requesting || s == Progress || s == Challenge || s == PlatformException
}

// Upcoming reports whether the attempt still waits for its date.
func (s Status) Upcoming() bool { return s == Queued }
