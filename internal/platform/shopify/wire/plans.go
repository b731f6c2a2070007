package wire

// PlanGroupInput is what a group of selling plans is made or changed with. What
// is left out stays as it is.
type PlanGroupInput struct {
	MerchantCode string      `json:"merchantCode,omitempty"`
	Name         *string     `json:"name,omitempty"`
	Options      []string    `json:"options,omitempty"`
	Create       []PlanInput `json:"sellingPlansToCreate,omitempty"`
	Update       []PlanInput `json:"sellingPlansToUpdate,omitempty"`
	Delete       []string    `json:"sellingPlansToDelete,omitempty"`
}

// PlanResources are the products and variants of a new group.
type PlanResources struct {
	Products []string `json:"productIds,omitempty"`
	Variants []string `json:"productVariantIds,omitempty"`
}

// PlanInput is all that is said of a selling plan: nothing that it held before
// is kept.
type PlanInput struct {
	ID          string          `json:"id,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Options     []string        `json:"options"`
	Position    int             `json:"position"`
	Category    string          `json:"category"`
	Billing     RecurringOf     `json:"billingPolicy"`
	Delivery    RecurringOf     `json:"deliveryPolicy"`
	Prices      []PriceInput    `json:"pricingPolicies"`
	Inventory   *InventoryInput `json:"inventoryPolicy,omitempty"`
}

// InventoryInput is when stock is set aside.
type InventoryInput struct {
	Reserve string `json:"reserve"`
}

// RecurringOf holds a policy that recurs.
type RecurringOf struct {
	Recurring RecurringInput `json:"recurring"`
}

// RecurringInput is a policy of a plan: of billing with Cycles, of delivery with
// Preparation. The other one is nil, and its fields are not sent.
type RecurringInput struct {
	Interval string        `json:"interval"`
	Count    int           `json:"intervalCount"`
	Anchors  []AnchorInput `json:"anchors"`
	*Cycles
	*Preparation
}

// Cycles bound how often is billed; nil: without bound.
type Cycles struct {
	Min *int `json:"minCycles"`
	Max *int `json:"maxCycles"`
}

// Preparation is how a delivery is prepared.
type Preparation struct {
	Cutoff   *int   `json:"cutoff"`
	Behavior string `json:"preAnchorBehavior"`
}

// AnchorInput is a fixed day of a policy.
type AnchorInput struct {
	Type      string `json:"type"`
	Day       int    `json:"day"`
	Month     int    `json:"month,omitempty"`
	CutoffDay int    `json:"cutoffDay,omitempty"`
}

// PriceInput is a pricing policy: exactly one of the two is set.
type PriceInput struct {
	Fixed     *AdjustmentInput `json:"fixed,omitempty"`
	Recurring *AdjustmentInput `json:"recurring,omitempty"`
}

// AdjustmentInput changes a price. After belongs to recurring policies.
type AdjustmentInput struct {
	Type  string     `json:"adjustmentType"`
	Value ValueInput `json:"adjustmentValue"`
	After int        `json:"afterCycle,omitempty"`
}

// ValueInput is a percentage or a decimal amount.
type ValueInput struct {
	Percentage *float64 `json:"percentage,omitempty"`
	Fixed      string   `json:"fixedValue,omitempty"`
}

// Titled is a product, or a variant and its product, with titles.
type Titled struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Product struct {
		Title string `json:"title"`
	} `json:"product"`
}
