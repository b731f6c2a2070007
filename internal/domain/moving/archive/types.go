package archive

import "slices"

// Types are the types of record, in an order in which each refers to earlier ones only. Amounts
// are minor units of the record's currency, points are hundredths.
var Types = slices.Concat(catalogueTypes, contractTypes, retentionTypes, loyaltyTypes, portalTypes, historyTypes)

var catalogueTypes = []Type{
	{Name: "shop", About: "the store: its calendar and settings; one record", Key: 1, Fields: fields(
		"domain timeZone currency orderHour:number orderMinute:number settings:json ownerEmail",
	)},
	{Name: "planGroups", About: "plan groups", Key: 1, Fields: fields(
		"id:own platformId:number line name terms:json state pending:json dueAt:due createdAt:at updatedAt:at",
	)},
	{Name: "planOptions", About: "the options of plan groups: intervals and prices", Key: 1, Fields: fields(
		"id:number groupId:own>planGroups position:number terms:json",
	)},
	{Name: "removedPlanOptions", About: "options that contracts may still name", Key: 1, Fields: fields("id:number terms:json")},
	{Name: "planItems", About: "products and variants of plan groups", Key: 3, Fields: fields(
		"groupId:own>planGroups kind itemId:number title",
	)},
	{Name: "deliveryProfiles", About: "delivery profiles", Key: 1, Fields: fields(
		"id:own platformId:number name planGroups:json pending:json dueAt:due createdAt:at updatedAt:at",
	)},
	{Name: "bundles", About: "boxes and their rules", Key: 1, Fields: fields("id:own line settings:json createdAt:at updatedAt:at")},
	{Name: "swapRules", About: "product swap rules", Key: 1, Fields: fields(
		"id:own line name sources:json destinations:json firstOrder:truth everyOrder:truth cycle:number sequence:number carryDiscount:truth discount " +
			"shifts:truth shiftDays:number noEmail:truth switchedOff:truth createdAt:at updatedAt:at",
	)},
}

var contractTypes = []Type{
	{Name: "contracts", About: "subscriptions and memberships: lines, prices by cycle, discounts, schedule, commitments, results", Key: 1, Fields: fields(
		"id:number line revision:number status currency customerId:number customerEmail customerFirstName customerLastName customerName customerPhone " +
			"billingInterval billingCount:number billingAnchors:json deliveryInterval deliveryCount:number deliveryAnchors:json " +
			"maxCycles:number minCycles:number autoCharge:truth lines:json pricing:json planPricing:json priced:truth discounts:json note attributes:json " +
			"paymentMethod paymentUsable:truth card:json billingCountry deliveryCountry deliveryPrice:number " +
			"origin originOrderId:number originOrderName firstAmount:number firstPaid:number importedId splitFrom:number earlierOrders:number split:json " +
			"seriesCycle:number seriesStart:at seriesPassed:number seriesMoved:truth laterSeries:json passedCycles:number nextBillingDate:at queueUpdatedAt:at " +
			"overrides:json oneOffs:number notifiedFor:at remindedFor:at cardRemindedFor:at " +
			"pendingChange:json amendAt:due inFlightEdits:json moving:json pause:json ending:json trial:json dunning:json lifelong:truth deliverySet:truth expireAt:at " +
			"cancellationFeedback cancellationNote cancelledOrderDate:at " +
			"orders:number lifetime:number lastPayment lastOrderId:number lastOrderName lastOrderAt:at lastOrderAmount:number " +
			"createdAt:at updatedAt:at activatedAt:at pausedAt:at cancelledAt:at",
	)},
	{Name: "attempts", About: "orders that were charged, declined or skipped, and those that are queued, with their dates and dunning cases", Key: 1, Fields: fields(
		"id:own contractId:number>contracts cycle:number status billingDate:at moved:truth dueAt:due publishAt:due notified:truth " +
			"try:number key firstSentAt:at sentAt:at failures:number polls:number manual:truth attemptedAt:at platformId errorCode errorMessage actionUrl dunning:json " +
			"orderId:number orderName amount:number currency lines:json note flags:json preparation:json createdAt:at updatedAt:at",
	)},
	{Name: "chargeRequests", About: "charges that a person asked for", Key: 1, Fields: fields("id:own contractId:number>contracts requestedAt:at")},
	{Name: "cardTries", About: "tries of payment methods, for the limits of card networks", Key: 1, Fields: fields("id:own paymentMethod triedAt:at")},
	{Name: "oneOffs", About: "one-time products of orders to come and of past ones", Key: 1, Fields: fields(
		"id:own contractId:number>contracts cycle:number variantId:number productId:number handle productHandle sku title productTitle image " +
			"taxable:truth price:number currency quantity:number done:truth createdAt:at updatedAt:at",
	)},
	{Name: "swapUses", About: "swap rules that act once for a contract and have acted", Key: 2, Fields: fields("contractId:number>contracts ruleId:own>swapRules")},
	{Name: "swapNotices", About: "notices of higher prices that swap rules bring", Key: 5, Fields: fields("contractId:number>contracts ruleId:own>swapRules variantId:number price:number currency fromAt:at kept:number pricing:json")},
	{Name: "annotations", About: "tags and notes on their way to orders and customers", Key: 1, Fields: fields(
		"id:own target contractId:number>contracts attemptId:own tags:json note dueAt:due failures:number",
	)},
	{Name: "comments", About: "comments of the store's users on contracts", Key: 1, Fields: fields("id:own contractId:number>contracts author body createdAt:at")},
}

var retentionTypes = []Type{
	{Name: "cancelFlows", About: "published versions of the flow of cancelling", Key: 1, Fields: fields(
		"version:number mode instructions support holdBack:number budget:number currency reasons:json publishedAt:at publishedBy",
	)},
	{Name: "cancelSessions", About: "customers' ways through the flow of cancelling, with their answers", Key: 1, Fields: fields(
		"id:own contractId:number>contracts customerId:number flowVersion:number step outcome action reason comment offer:json offerKind offerCurrency offerCost:number " +
			"arm moves:json planGroupId:own orders:number startedAt:at offeredAt:at acceptedAt:at dueAt:due endedAt:at lostAt:at",
	)},
	{Name: "retentionActivities", About: "what subscribers did when they thought of leaving", Key: 1, Fields: fields(
		"id:own contractId:number>contracts customerId:number occurredAt:at action reason discount info",
	)},
}
