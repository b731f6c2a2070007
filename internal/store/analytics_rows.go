package store

import (
	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// historyRow is a row of contract_history.
type historyRow struct {
	bun.BaseModel `bun:"table:contract_history,alias:h"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	ContractID  int64
	Day         int64
	ValidFrom   int64
	ValidTo     int64
	Status      string
	Currency    string
	PlanGroupID int64 `bun:"plan_group_id"`
	MRR         int64 `bun:"mrr"`
	CustomerID  int64
	Trial       bool
	Lifelong    bool
	Reason      string
	Counted     bool
	Cohort      int64
}

func (r *historyRow) Columns(m *mapping, v *analytics.Version) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &v.Number)
	mapInt(m, &r.ContractID, &v.Contract)
	mapInt(m, &r.Day, &v.Day)
	mapTime(m, &r.ValidFrom, &v.ValidFrom)
	mapTime(m, &r.ValidTo, &v.ValidTo)
	mapText(m, &r.Status, &v.Status)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.PlanGroupID, &v.Group)
	mapInt(m, &r.MRR, &v.MRR)
	mapInt(m, &r.CustomerID, &v.Customer)
	mapSame(m, &r.Trial, &v.Trial)
	mapSame(m, &r.Lifelong, &v.Lifelong)
	mapText(m, &r.Reason, &v.Reason)
	mapSame(m, &r.Counted, &v.Counted)
	mapInt(m, &r.Cohort, &v.Cohort)
}

// outcomeRow is a row of order_outcomes.
type outcomeRow struct {
	bun.BaseModel `bun:"table:order_outcomes,alias:o"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	ContractID   int64
	Cycle        int64
	Currency     string
	PlanGroupID  int64 `bun:"plan_group_id"`
	Cohort       int64
	FailedDay    int64
	FailedAmount int64
	Class        string
	Retried      bool
	Mailed       bool
	Renewed      bool
	PaidDay      int64
	PaidAmount   int64
	Try          int64
	Result       string
	ResultDay    int64
}

func (r *outcomeRow) Columns(m *mapping, v *analytics.Outcome) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &v.Attempt)
	mapInt(m, &r.ContractID, &v.Contract)
	mapInt(m, &r.Cycle, &v.Cycle)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.PlanGroupID, &v.Group)
	mapInt(m, &r.Cohort, &v.Cohort)
	mapInt(m, &r.FailedDay, &v.FailedDay)
	mapInt(m, &r.FailedAmount, &v.FailedAmount)
	mapText(m, &r.Class, &v.Class)
	mapSame(m, &r.Retried, &v.Retried)
	mapSame(m, &r.Mailed, &v.Mailed)
	mapSame(m, &r.Renewed, &v.Renewed)
	mapInt(m, &r.PaidDay, &v.PaidDay)
	mapInt(m, &r.PaidAmount, &v.PaidAmount)
	mapInt(m, &r.Try, &v.Try)
	mapText(m, &r.Result, &v.Result)
	mapInt(m, &r.ResultDay, &v.ResultDay)
}

// metricRow is a row of metric_days.
type metricRow struct {
	bun.BaseModel `bun:"table:metric_days,alias:m"`

	ShopID             int64  `bun:"shop_id,pk"`
	Day                int64  `bun:"day,pk"`
	Currency           string `bun:"currency,pk"`
	PlanGroupID        int64  `bun:"plan_group_id,pk"`
	MRR                int64  `bun:"mrr"`
	Contracts          int64
	Subscribers        int64
	Trials             int64
	Lifelong           int64
	Opening            int64
	New                int64
	Reactivated        int64
	Resumed            int64
	Expansion          int64
	Contraction        int64
	Paused             int64
	ChurnedVoluntary   int64
	ChurnedInvoluntary int64
	Transferred        int64
	Orders             int64
	Revenue            int64
	Failed             int64
	FailedAmount       int64
	Recovered          int64
	RecoveredAmount    int64
}

func (r *metricRow) Columns(m *mapping, v *analytics.DayFigures) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Day, &v.Day)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.PlanGroupID, &v.Group)
	mapInt(m, &r.MRR, &v.MRR)
	mapInt(m, &r.Contracts, &v.Contracts)
	mapInt(m, &r.Subscribers, &v.Subscribers)
	mapInt(m, &r.Trials, &v.Trials)
	mapInt(m, &r.Lifelong, &v.Lifelong)
	mapFlow(m, &r.Opening, &v.Moved, analytics.Opening)
	mapFlow(m, &r.New, &v.Moved, analytics.New)
	mapFlow(m, &r.Reactivated, &v.Moved, analytics.Reactivated)
	mapFlow(m, &r.Resumed, &v.Moved, analytics.Resumed)
	mapFlow(m, &r.Expansion, &v.Moved, analytics.Expansion)
	mapFlow(m, &r.Contraction, &v.Moved, analytics.Contraction)
	mapFlow(m, &r.Paused, &v.Moved, analytics.Paused)
	mapFlow(m, &r.ChurnedVoluntary, &v.Moved, analytics.ChurnedVoluntary)
	mapFlow(m, &r.ChurnedInvoluntary, &v.Moved, analytics.ChurnedByDeclines)
	mapFlow(m, &r.Transferred, &v.Moved, analytics.Transferred)
	mapInt(m, &r.Orders, &v.Orders)
	mapInt(m, &r.Revenue, &v.Revenue)
	mapInt(m, &r.Failed, &v.Failed)
	mapInt(m, &r.FailedAmount, &v.FailedAmount)
	mapInt(m, &r.Recovered, &v.Recovered)
	mapInt(m, &r.RecoveredAmount, &v.RecoveredAmount)
}

// mapFlow maps a movement. One that is 0 is left out of the flow.
func mapFlow(m *mapping, column *int64, flow *analytics.Flow, of analytics.Movement) {
	if m.toRow {
		*column = (*flow)[of]
		return
	}
	if *flow == nil {
		*flow = make(analytics.Flow)
	}
	if *column != 0 {
		(*flow)[of] = *column
	}
}

// subscriberDayRow is a row of subscriber_days.
type subscriberDayRow struct {
	bun.BaseModel `bun:"table:subscriber_days,alias:d"`

	ShopID         int64 `bun:"shop_id,pk"`
	Day            int64 `bun:"day,pk"`
	Subscribers    int64
	Opening        int64
	Gained         int64
	Lost           int64
	LostByDeclines int64
	Merged         int64
}

func (r *subscriberDayRow) Columns(m *mapping, v *analytics.SubscriberFigures) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Day, &v.Day)
	mapInt(m, &r.Subscribers, &v.Subscribers)
	mapInt(m, &r.Opening, &v.Opening)
	mapInt(m, &r.Gained, &v.Gained)
	mapInt(m, &r.Lost, &v.Lost)
	mapInt(m, &r.LostByDeclines, &v.LostDecline)
	mapInt(m, &r.Merged, &v.Merged)
}

// churnRow is a row of churn_months.
type churnRow struct {
	bun.BaseModel `bun:"table:churn_months,alias:c"`

	ShopID     int64 `bun:"shop_id,pk"`
	Month      int64 `bun:"month,pk"`
	Voluntary  int64
	ByDeclines int64
}

func (r *churnRow) Columns(m *mapping, v *analytics.ChurnMonth) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Month, &v.Month)
	mapInt(m, &r.Voluntary, &v.Voluntary)
	mapInt(m, &r.ByDeclines, &v.ByFailedPayment)
}

// cohortRow is a row of cohort_months.
type cohortRow struct {
	bun.BaseModel `bun:"table:cohort_months,alias:c"`

	ShopID   int64  `bun:"shop_id,pk"`
	Cohort   int64  `bun:"cohort,pk"`
	Month    int64  `bun:"month,pk"`
	Currency string `bun:"currency,pk"`
	Joined   int64
	Change   int64
	Revenue  int64
}

func (r *cohortRow) Columns(m *mapping, v *analytics.CohortMonth) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Cohort, &v.Cohort)
	mapInt(m, &r.Month, &v.Month)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.Joined, &v.Joined)
	mapInt(m, &r.Change, &v.Change)
	mapInt(m, &r.Revenue, &v.Revenue)
}

// failureRow is a row of failure_days.
type failureRow struct {
	bun.BaseModel `bun:"table:failure_days,alias:f"`

	ShopID          int64  `bun:"shop_id,pk"`
	Day             int64  `bun:"day,pk"`
	Currency        string `bun:"currency,pk"`
	Class           string `bun:"class,pk"`
	Try             int64  `bun:"try,pk"`
	Failed          int64
	FailedAmount    int64
	Recovered       int64
	RecoveredAmount int64
	Retried         int64
	RetriedAmount   int64
	Mailed          int64
	MailedAmount    int64
	Renewed         int64
	RenewedAmount   int64
	Lost            int64
	LostAmount      int64
}

func (r *failureRow) Columns(m *mapping, v *analytics.FailureFigures) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Day, &v.Day)
	mapText(m, &r.Currency, &v.Currency)
	mapText(m, &r.Class, &v.Class)
	mapInt(m, &r.Try, &v.Try)
	mapInt(m, &r.Failed, &v.Failed)
	mapInt(m, &r.FailedAmount, &v.FailedAmount)
	mapInt(m, &r.Recovered, &v.Recovered)
	mapInt(m, &r.RecoveredAmount, &v.RecoveredAmount)
	mapInt(m, &r.Retried, &v.Retried)
	mapInt(m, &r.RetriedAmount, &v.RetriedAmount)
	mapInt(m, &r.Mailed, &v.Mailed)
	mapInt(m, &r.MailedAmount, &v.MailedAmount)
	mapInt(m, &r.Renewed, &v.Renewed)
	mapInt(m, &r.RenewedAmount, &v.RenewedAmount)
	mapInt(m, &r.Lost, &v.Lost)
	mapInt(m, &r.LostAmount, &v.LostAmount)
}

// cycleRow is a row of cycle_days.
type cycleRow struct {
	bun.BaseModel `bun:"table:cycle_days,alias:y"`

	ShopID  int64 `bun:"shop_id,pk"`
	Day     int64 `bun:"day,pk"`
	Cycle   int64 `bun:"cycle,pk"`
	Paid    int64
	Lost    int64
	Skipped int64
}

func (r *cycleRow) Columns(m *mapping, v *analytics.CycleFigures) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Day, &v.Day)
	mapInt(m, &r.Cycle, &v.Cycle)
	mapInt(m, &r.Paid, &v.Paid)
	mapInt(m, &r.Lost, &v.Lost)
	mapInt(m, &r.Skipped, &v.Skipped)
}

// quarterRow is a row of queue_quarters.
type quarterRow struct {
	bun.BaseModel `bun:"table:queue_quarters,alias:q"`

	ShopID      int64  `bun:"shop_id,pk"`
	Quarter     int64  `bun:"quarter,pk"`
	Currency    string `bun:"currency,pk"`
	PlanGroupID int64  `bun:"plan_group_id,pk"`
	Cycle       int64  `bun:"cycle,pk"`
	Orders      int64
	Amount      int64
}

func (r *quarterRow) Columns(m *mapping, v *analytics.QueueFigures) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Quarter, &v.Quarter)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.PlanGroupID, &v.Group)
	mapInt(m, &r.Cycle, &v.Cycle)
	mapInt(m, &r.Orders, &v.Orders)
	mapInt(m, &r.Amount, &v.Amount)
}

// subscriberRow is a row of subscribers.
type subscriberRow struct {
	bun.BaseModel `bun:"table:subscribers,alias:s"`

	ShopID     int64 `bun:"shop_id,pk"`
	CustomerID int64 `bun:"customer_id,pk"`
	Contracts  int64
	Cohort     int64
	Since      int64
	Until      int64
	Declined   bool
	Counted    int64
}

func (r *subscriberRow) Columns(m *mapping, v *analytics.Subscriber) {
	m.shop(&r.ShopID)
	mapInt(m, &r.CustomerID, &v.Customer)
	mapInt(m, &r.Contracts, &v.Contracts)
	mapInt(m, &r.Cohort, &v.Cohort)
	mapInt(m, &r.Since, &v.Since)
	mapInt(m, &r.Until, &v.Until)
	mapSame(m, &r.Declined, &v.Declined)
	mapInt(m, &r.Counted, &v.Counted)
}

// holdingRow is a row of subscriber_holdings.
type holdingRow struct {
	bun.BaseModel `bun:"table:subscriber_holdings,alias:h"`

	ShopID      int64  `bun:"shop_id,pk"`
	CustomerID  int64  `bun:"customer_id,pk"`
	Currency    string `bun:"currency,pk"`
	PlanGroupID int64  `bun:"plan_group_id,pk"`
	Contracts   int64
}

func (r *holdingRow) Columns(m *mapping, v *analytics.Holding) {
	m.shop(&r.ShopID)
	mapInt(m, &r.CustomerID, &v.Customer)
	mapText(m, &r.Currency, &v.Currency)
	mapInt(m, &r.PlanGroupID, &v.Group)
	mapInt(m, &r.Contracts, &v.Contracts)
}
