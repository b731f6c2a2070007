package analytics

// Metric is a figure that pages show.
type Metric string

// The metrics.
const (
	MRR                Metric = "mrr"
	MRRMovements       Metric = "movements"
	ActiveContracts    Metric = "contracts"
	ActiveSubscribers  Metric = "subscribers"
	SubscriberChurn    Metric = "churn"
	CohortRetention    Metric = "cohorts"
	RevenueForecast    Metric = "forecast"
	DunningRecovery    Metric = "recovery"
	FailedToRecover    Metric = "toRecover"
	RenewalRevenue     Metric = "revenue"
	AverageOrderAmount Metric = "aov"
	LifetimeValue      Metric = "ltv"
	SaveRate           Metric = "saveRate"
	SavedSurvival      Metric = "savedSurvival"
)

// Definition says what a metric is: in one paragraph, which pages show, and what else an
// analyst may ask.
type Definition struct {
	Metric  Metric
	Name    string
	Text    string
	Details []string
}

// Definitions lists every metric in the order of the document.
var Definitions = []Definition{
	{MRR, "MRR", "Monthly recurring revenue: what all active contracts bring in a month. Each counts with the price of its items, after discounts that do not end, " +
		"before tax and shipping, times the monthly share of its billing interval. Contracts in a free trial and contracts that are paid for life do not count.", []string{
		"Monthly share of n intervals: days 30.4375 ÷ n, weeks 30.4375 ÷ 7n (4.348214… ÷ n), months 1 ÷ n, years 1 ÷ 12n. The share is computed exactly and rounded half away from zero, " +
			"once for each contract.",
		"The billing interval counts, so that a prepaid contract is spread over what it pays for.",
		"A contract that waits for a failed payment is active and counts until it is paused or cancelled.",
		"A discount for a number of orders does not count, since it ends. Where prices change with the orders, the price of the next order counts.",
		"Amounts are per currency. Nothing is converted, because the service stores no exchange rates. ARR is twelve times MRR.",
	}},
	{MRRMovements, "MRR movements", "Why MRR changed: new contracts, contracts that came back after they had ended, resumed after a pause, larger, smaller, paused, cancelled by choice, " +
		"and cancelled because a payment failed. MRR at the start of a period plus its movements is MRR at its end.", []string{
		"The end of a free trial is new. So is a contract of a subscriber who has others.",
		"A contract that ended and continues as another one has come back.",
		"Already there: contracts that the store had when it was connected, or that are more than 7 days old when the service first sees them.",
		"Moved: from one plan group or currency to another, and lines that were split off into a contract of their own.",
		"Each change counts on its day. A contract that changes twice in a period counts twice.",
	}},
	{ActiveContracts, "Active contracts", "Contracts with the status active at the end of the day, also those in a free trial, paid for life, or waiting for a failed payment.", nil},
	{ActiveSubscribers, "Active subscribers", "Customers with at least one active contract at the end of the day.", []string{
		"A customer with contracts in two plan groups is a subscriber of both and one subscriber of the store.",
		"Customers that the platform merged are one subscriber from then on: the others neither came nor left.",
		"An erased customer keeps the number and counts as before; the history holds no other personal data.",
	}},
	{SubscriberChurn, "Subscriber churn", "Of the subscribers at the start of the period, the share that has no active contract at its end. By failed payment means that the last try of " +
		"the retry rule failed and the contract was paused or cancelled for it; everything else is by choice.", []string{
		"A pause counts as leaving, since no contract is active. A subscriber who is back before the period ends has not left.",
		"A subscriber who came and left within the period was not there at its start and does not count.",
		"Of the last 30 days, a subscriber who left, came back and left again in them does not count.",
	}},
	{CohortRetention, "Retention by cohort", "Subscribers are grouped by the month in which their first contract began. A cell is the share of the group with at least one active contract at the " +
		"end of the month, up to 24 months later. Months still to come are blank; groups under 10 are marked.", []string{
		"Revenue of a cohort is what its renewals paid in the month, of all contracts of its subscribers; the order of the checkout is not in it.",
		"Subscribers that the store had before it was connected are in no cohort: who of their month had left already is not known.",
		"A contract that is reported late belongs to the month in which it began.",
		"Cohorts and churn are of the whole store. They cannot be chosen by plan group: a subscriber who leaves one group and keeps another has not left.",
	}},
	{RevenueForecast, "Forecast", "Scheduled is the sum of the orders in the queue that fall due in the period, each at what it will cost as far as that is known, with delivery and one-time products, before tax. Expected takes off what is " +
		"usually skipped or never paid: for each order, the shares of the last 90 days for its number. The band says how sure that is: about one time in ten less is paid than its lower end, " +
		"and about one time in ten more than its upper end.", []string{
		"Share that is paid: paid ÷ (paid + given up). Share that is skipped: skipped ÷ (paid + given up + skipped). Expected is scheduled × the share that is paid × (1 − the share that is skipped). " +
			"The orders count by their number up to 12; later ones together. Numbers with fewer than 20 results use those of all orders.",
		"With fewer than 30 results in 90 days, nothing is expected: only what is scheduled is shown.",
		"Band: expected ± 1.28 standard deviations, the 10 % and the 90 % quantile of a normal distribution, and never below 0 or above what is scheduled. The variance is a² × n × p × (1 − p), summed over orders " +
			"of the same quarter of an hour, plan group and number, plus A² × p × (1 − p) ÷ (r + 2), summed over the shares: n orders of a each, A scheduled at a share, and r results that it comes from. " +
			"p is (paid + 1) ÷ (r + 2), so that 30 paid orders of 30 are not taken for certain.",
		"The band assumes that orders are paid independently of each other and cost the same within a quarter of an hour. It does not know about price changes, sales or an outage of the bank. " +
			"The band of a week is narrower than those of its days together, since good and bad days balance.",
		"Only orders in the queue count. An order that is not planned yet, such as the third of a monthly contract where two are queued, is missing.",
	}},
	{DunningRecovery, "Recovered payments", "Of the orders whose first payment was declined in the week, the share of the amount that has been paid since, to date.", []string{
		"The amount of an order is what it was expected to cost when it was first declined. It counts in the week of that decline however late it is paid.",
		"The class is that of the first decline. The plan group is that of the contract when the order was first declined.",
	}},
	{FailedToRecover, "To recover", "What the orders cost that were declined and are neither paid nor given up, with delivery, before tax.", nil},
	{RenewalRevenue, "Renewal revenue", "What subscribers were charged for renewals, with tax and shipping. Orders of the checkout are not in it.", []string{
		"An order counts on the day on which the service learned that it was paid. Refunds are not taken off.",
	}},
	{AverageOrderAmount, "Average order value (AOV)", "Renewal revenue divided by the number of paid renewals, with tax and shipping.", []string{
		"Renewals that cost nothing count as orders. A prepaid renewal is one order, however many deliveries it pays for.",
		"Rounded half up to whole minor units.",
	}},
	{LifetimeValue, "Lifetime value to date (LTV)", "Renewal revenue since the beginning divided by all subscribers who ever had an active contract, whether they are still there or not. It is gross and predicts nothing: " +
		"no costs or refunds are taken off, and no renewal to come is added.", []string{
		"Subscribers are grouped by the month in which their first contract began. Later groups have had less time to pay, so their value is lower.",
		"Revenue is that of all their renewals, with tax and shipping, in the currency. The order of the checkout is not in it.",
		"Subscribers are those who ever had an active contract in the currency. One with contracts in two currencies counts in both.",
		"Subscribers that the store had before it was connected are left out, with their renewals: what they paid before is not known.",
		"It is of all plan groups.",
	}},
	{SaveRate, "Save rate", "Of the sessions in which a customer started to cancel and that have ended, the share that ended without a cancellation, now or scheduled: the customer accepted an offer, " +
		"chose to keep the contract, or left.", []string{
		"A session belongs to the period in which it began. It ends when the customer decides, or after 24 hours without a step: then the customer has left, and the contract goes on.",
		"Sessions that are still open do not count, since they may end either way.",
	}},
	{SavedSurvival, "Still there after 60 days", "Of the contracts that were saved at least 60 days ago, the share that was neither cancelled nor expired within 60 days of the session.", []string{
		"A contract counts as lost for whatever reason it ended. A pause is no end.",
		"Contracts that were saved less than 60 days ago do not count yet. Periods of 60 days and less therefore show none.",
	}},
}

// DefinitionsOf returns the definitions of metrics. Those that do not exist are left out.
func DefinitionsOf(list ...Metric) []Definition {
	var found []Definition
	for _, m := range list {
		if d, has := DefinitionOf(m); has {
			found = append(found, d)
		}
	}
	return found
}

// DefinitionOf returns the definition of a metric, and false when there is no such metric.
func DefinitionOf(m Metric) (Definition, bool) {
	for _, d := range Definitions {
		if d.Metric == m {
			return d, true
		}
	}
	return Definition{}, false
}
