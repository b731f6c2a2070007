package activity

// EntityType says what an entry is about.
type EntityType string

// The entity types of the interface.
const (
	EntitySubscriptionBillingAttempt  EntityType = "SUBSCRIPTION_BILLING_ATTEMPT"
	EntitySubscriptionContractDetails EntityType = "SUBSCRIPTION_CONTRACT_DETAILS"
	EntitySubscriptionGroupPlan       EntityType = "SUBSCRIPTION_GROUP_PLAN"
	EntityShippingProfile             EntityType = "SHIPPING_PROFILE"
	EntityCancellationManagement      EntityType = "CANCELLATION_MANAGEMENT"
	EntityDunningManagement           EntityType = "DUNNING_MANAGEMENT"
	EntityProductSwap                 EntityType = "PRODUCT_SWAP"
	EntityFrequencySwap               EntityType = "FREQUENCY_SWAP"
	EntityEmailTemplate               EntityType = "EMAIL_TEMPLATE"
	EntityShopInfo                    EntityType = "SHOP_INFO"
	EntitySubscriptionWidgetSettings  EntityType = "SUBSCRIPTION_WIDGET_SETTINGS"
	EntityCustomerPortalSettings      EntityType = "CUSTOMER_PORTAL_SETTINGS"
	EntitySubscriptionBundling        EntityType = "SUBSCRIPTION_BUNDLING"
	EntityBulkAutomation              EntityType = "BULK_AUTOMATION"
	EntityPartnerConnection           EntityType = "PARTNER_CONNECTION"
)

// EntityTypes lists every entity type, in the order of the interface.
var EntityTypes = []EntityType{
	EntitySubscriptionBillingAttempt, EntitySubscriptionContractDetails, EntitySubscriptionGroupPlan, EntityShippingProfile, EntityCancellationManagement, EntityDunningManagement, EntityProductSwap, EntityFrequencySwap, EntityEmailTemplate, EntityShopInfo, EntitySubscriptionWidgetSettings, EntityCustomerPortalSettings, EntitySubscriptionBundling, EntityBulkAutomation, EntityPartnerConnection,
}

// EventType says what happened.
type EventType string

// The event types of the interface.
const (
	NextBillingDateChange                      EventType = "NEXT_BILLING_DATE_CHANGE"
	NextBillingTimeChange                      EventType = "NEXT_BILLING_TIME_CHANGE"
	BillingIntervalChange                      EventType = "BILLING_INTERVAL_CHANGE"
	DeliveryIntervalChange                     EventType = "DELIVERY_INTERVAL_CHANGE"
	BillingAttemptTriggered                    EventType = "BILLING_ATTEMPT_TRIGGERED"
	BillingAttemptSkipped                      EventType = "BILLING_ATTEMPT_SKIPPED"
	ImmediateOrderRateLimitBlocked             EventType = "IMMEDIATE_ORDER_RATE_LIMIT_BLOCKED"
	PricingPolicyEscalationBlocked             EventType = "PRICING_POLICY_ESCALATION_BLOCKED"
	BillingAmountEscalationBlocked             EventType = "BILLING_AMOUNT_ESCALATION_BLOCKED"
	ProductAdd                                 EventType = "PRODUCT_ADD"
	ProductRemove                              EventType = "PRODUCT_REMOVE"
	ProductReplace                             EventType = "PRODUCT_REPLACE"
	ProductQuantityChange                      EventType = "PRODUCT_QUANTITY_CHANGE"
	ProductPriceChange                         EventType = "PRODUCT_PRICE_CHANGE"
	ProductPricingPolicyChange                 EventType = "PRODUCT_PRICING_POLICY_CHANGE"
	ProductSellingPlanChange                   EventType = "PRODUCT_SELLING_PLAN_CHANGE"
	ProductDeletedSync                         EventType = "PRODUCT_DELETED_SYNC"
	ContractPaused                             EventType = "CONTRACT_PAUSED"
	ContractActivated                          EventType = "CONTRACT_ACTIVATED"
	ContractActivationDeferred                 EventType = "CONTRACT_ACTIVATION_DEFERRED"
	ContractCancelled                          EventType = "CONTRACT_CANCELLED"
	DeliveryMethodUpdated                      EventType = "DELIVERY_METHOD_UPDATED"
	SystemUpdatedDeliveryPrice                 EventType = "SYSTEM_UPDATED_DELIVERY_PRICE"
	ManualDeliveryPriceUpdated                 EventType = "MANUAL_DELIVERY_PRICE_UPDATED"
	DeliveryPriceOverrideChanged               EventType = "DELIVERY_PRICE_OVERRIDE_CHANGED"
	ShippingAddressChange                      EventType = "SHIPPING_ADDRESS_CHANGE"
	ShippingAddressChangeSync                  EventType = "SHIPPING_ADDRESS_CHANGE_SYNC"
	SendSubscriptionCreatedEmail               EventType = "SEND_SUBSCRIPTION_CREATED_EMAIL"
	SendTransactionFailedEmail                 EventType = "SEND_TRANSACTION_FAILED_EMAIL"
	SendUpcomingOrderEmail                     EventType = "SEND_UPCOMING_ORDER_EMAIL"
	SendExpiringCreditCardEmail                EventType = "SEND_EXPIRING_CREDIT_CARD_EMAIL"
	SendShippingAddressUpdatedEmail            EventType = "SEND_SHIPPING_ADDRESS_UPDATED_EMAIL"
	SendOrderFrequencyUpdatedEmail             EventType = "SEND_ORDER_FREQUENCY_UPDATED_EMAIL"
	SendNextOrderDateUpdatedEmail              EventType = "SEND_NEXT_ORDER_DATE_UPDATED_EMAIL"
	SendSubscriptionPausedEmail                EventType = "SEND_SUBSCRIPTION_PAUSED_EMAIL"
	SendSubscriptionCanceledEmail              EventType = "SEND_SUBSCRIPTION_CANCELED_EMAIL"
	SendSubscriptionResumedEmail               EventType = "SEND_SUBSCRIPTION_RESUMED_EMAIL"
	SendSubscriptionProductAddedEmail          EventType = "SEND_SUBSCRIPTION_PRODUCT_ADDED_EMAIL"
	SendSubscriptionProductRemovedEmail        EventType = "SEND_SUBSCRIPTION_PRODUCT_REMOVED_EMAIL"
	SendSubscriptionProductReplacedEmail       EventType = "SEND_SUBSCRIPTION_PRODUCT_REPLACED_EMAIL"
	SendOrderSkippedEmail                      EventType = "SEND_ORDER_SKIPPED_EMAIL"
	OneTimePurchaseProductAdded                EventType = "ONE_TIME_PURCHASE_PRODUCT_ADDED"
	OneTimePurchaseProductRemoved              EventType = "ONE_TIME_PURCHASE_PRODUCT_REMOVED"
	OneTimePurchaseProductUpdate               EventType = "ONE_TIME_PURCHASE_PRODUCT_UPDATE"
	SendSecurityChallengeEmail                 EventType = "SEND_SECURITY_CHALLENGE_EMAIL"
	DiscountApplied                            EventType = "DISCOUNT_APPLIED"
	DiscountRemoved                            EventType = "DISCOUNT_REMOVED"
	DunningCancelled                           EventType = "DUNNING_CANCELLED"
	DunningSkipped                             EventType = "DUNNING_SKIPPED"
	DunningPaused                              EventType = "DUNNING_PAUSED"
	DunningAttemptSkipped                      EventType = "DUNNING_ATTEMPT_SKIPPED"
	BillingAttemptNotification                 EventType = "BILLING_ATTEMPT_NOTIFICATION"
	SendSubscriptionManagementLink             EventType = "SEND_SUBSCRIPTION_MANAGEMENT_LINK"
	PriceChangeSync                            EventType = "PRICE_CHANGE_SYNC"
	UpdateQueuedAttempts                       EventType = "UPDATE_QUEUED_ATTEMPTS"
	Webhook                                    EventType = "WEBHOOK"
	SplitContract                              EventType = "SPLIT_CONTRACT"
	SwitchPaymentMethods                       EventType = "SWITCH_PAYMENT_METHODS"
	PaymentMethodUpdated                       EventType = "PAYMENT_METHOD_UPDATED"
	SendOutOfStockEmail                        EventType = "SEND_OUT_OF_STOCK_EMAIL"
	InformationalEvent                         EventType = "INFORMATIONAL_EVENT"
	BulkEmail                                  EventType = "BULK_EMAIL"
	ContractCreated                            EventType = "CONTRACT_CREATED"
	InitialContractInfo                        EventType = "INITIAL_CONTRACT_INFO"
	AnchorDayRemoved                           EventType = "ANCHOR_DAY_REMOVED"
	UpcomingOrderUpdated                       EventType = "UPCOMING_ORDER_UPDATED"
	SubscriptionContractUpdated                EventType = "SUBSCRIPTION_CONTRACT_UPDATED"
	BillingAttemptUpdated                      EventType = "BILLING_ATTEMPT_UPDATED"
	RescheduleFulfillment                      EventType = "RESCHEDULE_FULFILLMENT"
	FulfillmentRefunded                        EventType = "FULFILLMENT_REFUNDED"
	SwapAutomationTriggered                    EventType = "SWAP_AUTOMATION_TRIGGERED"
	BABDiscountAdjustment                      EventType = "BAB_DISCOUNT_ADJUSTMENT"
	BABProductAdd                              EventType = "BAB_PRODUCT_ADD"
	BABProductRemove                           EventType = "BAB_PRODUCT_REMOVE"
	BABQuantityChange                          EventType = "BAB_QUANTITY_CHANGE"
	StopUpcomingOrderEmailUpdated              EventType = "STOP_UPCOMING_ORDER_EMAIL_UPDATED"
	OrderTagsAdded                             EventType = "ORDER_TAGS_ADDED"
	Email                                      EventType = "EMAIL"
	SendTransactionSuccessEmail                EventType = "SEND_TRANSACTION_SUCCESS_EMAIL"
	TagsUpdated                                EventType = "TAGS_UPDATED"
	SendProductPriceUpdatedEmail               EventType = "SEND_PRODUCT_PRICE_UPDATED_EMAIL"
	SubscriptionGroupPlanUpdate                EventType = "SUBSCRIPTION_GROUP_PLAN_UPDATE"
	SubscriptionGroupPlanCreate                EventType = "SUBSCRIPTION_GROUP_PLAN_CREATE"
	SubscriptionGroupPlanDelete                EventType = "SUBSCRIPTION_GROUP_PLAN_DELETE"
	Created                                    EventType = "CREATED"
	Updated                                    EventType = "UPDATED"
	Deleted                                    EventType = "DELETED"
	SendSuspensionEmail                        EventType = "SEND_SUSPENSION_EMAIL"
	SendSuspensionWarningEmail                 EventType = "SEND_SUSPENSION_WARNING_EMAIL"
	CurrencyMismatchDetected                   EventType = "CURRENCY_MISMATCH_DETECTED"
	PricingMethodApplied                       EventType = "PRICING_METHOD_APPLIED"
	PricingPolicyDiscountApplied               EventType = "PRICING_POLICY_DISCOUNT_APPLIED"
	PricingPolicySyncSkipped                   EventType = "PRICING_POLICY_SYNC_SKIPPED"
	PricingPolicySyncFailed                    EventType = "PRICING_POLICY_SYNC_FAILED"
	PricingPolicyNoApplicableCycle             EventType = "PRICING_POLICY_NO_APPLICABLE_CYCLE"
	PricingPolicyRemoved                       EventType = "PRICING_POLICY_REMOVED"
	PricingPolicyOverride                      EventType = "PRICING_POLICY_OVERRIDE"
	AutomaticDiscountUpdate                    EventType = "AUTOMATIC_DISCOUNT_UPDATE"
	BillingAttemptRefreshed                    EventType = "BILLING_ATTEMPT_REFRESHED"
	PriceChangeSyncSkipped                     EventType = "PRICE_CHANGE_SYNC_SKIPPED"
	BasePriceCalculation                       EventType = "BASE_PRICE_CALCULATION"
	LineDutyAdded                              EventType = "LINE_DUTY_ADDED"
	ImmediateRetryTriggered                    EventType = "IMMEDIATE_RETRY_TRIGGERED"
	PriceChangeSyncBulkAutomation              EventType = "PRICE_CHANGE_SYNC_BULK_AUTOMATION"
	ScheduleExpiringCreditCardEmail            EventType = "SCHEDULE_EXPIRING_CREDIT_CARD_EMAIL"
	StartedBulkAutomationProcessing            EventType = "STARTED_BULK_AUTOMATION_PROCESSING"
	DuplicateBillingAttemptDetected            EventType = "DUPLICATE_BILLING_ATTEMPT_DETECTED"
	AutoResumeScheduled                        EventType = "AUTO_RESUME_SCHEDULED"
	BillingCycleProductsSkipped                EventType = "BILLING_CYCLE_PRODUCTS_SKIPPED"
	OrderAttributesSynced                      EventType = "ORDER_ATTRIBUTES_SYNCED"
	DateAttributeModifiedBeforeSync            EventType = "DATE_ATTRIBUTE_MODIFIED_BEFORE_SYNC"
	OrderDateSyncFailed                        EventType = "ORDER_DATE_SYNC_FAILED"
	DeliveryDateSettingsApplied                EventType = "DELIVERY_DATE_SETTINGS_APPLIED"
	OrphanedSellingPlanDetected                EventType = "ORPHANED_SELLING_PLAN_DETECTED"
	BundleDiscountPercentageRounded            EventType = "BUNDLE_DISCOUNT_PERCENTAGE_ROUNDED"
	PartnerConnected                           EventType = "PARTNER_CONNECTED"
	PartnerDisconnected                        EventType = "PARTNER_DISCONNECTED"
	PartnerConnectionRequested                 EventType = "PARTNER_CONNECTION_REQUESTED"
	PartnerConnectionApproved                  EventType = "PARTNER_CONNECTION_APPROVED"
	PartnerConnectionRejected                  EventType = "PARTNER_CONNECTION_REJECTED"
	StoreCreditDiscountApplied                 EventType = "STORE_CREDIT_DISCOUNT_APPLIED"
	UpdateStoreCredit                          EventType = "UPDATE_STORE_CREDIT"
	SkipPaymentEnabled                         EventType = "SKIP_PAYMENT_ENABLED"
	PrepaidDeferredCancellationScheduled       EventType = "PREPAID_DEFERRED_CANCELLATION_SCHEDULED"
	PrepaidDeferredCancellationExecuted        EventType = "PREPAID_DEFERRED_CANCELLATION_EXECUTED"
	PrepaidDeferredCancellationCleared         EventType = "PREPAID_DEFERRED_CANCELLATION_CLEARED"
	CurrencyAdjustmentRecovery                 EventType = "CURRENCY_ADJUSTMENT_RECOVERY"
	PricingPolicySuppressedForMigratedContract EventType = "PRICING_POLICY_SUPPRESSED_FOR_MIGRATED_CONTRACT"
	PricingPolicySkippedMigratedByStrategy     EventType = "PRICING_POLICY_SKIPPED_MIGRATED_BY_STRATEGY"
)

// EventTypes lists every event type, in the order of the interface.
var EventTypes = []EventType{
	NextBillingDateChange,
	NextBillingTimeChange,
	BillingIntervalChange,
	DeliveryIntervalChange,
	BillingAttemptTriggered,
	BillingAttemptSkipped,
	ImmediateOrderRateLimitBlocked,
	PricingPolicyEscalationBlocked,
	BillingAmountEscalationBlocked,
	ProductAdd,
	ProductRemove,
	ProductReplace,
	ProductQuantityChange,
	ProductPriceChange,
	ProductPricingPolicyChange,
	ProductSellingPlanChange,
	ProductDeletedSync,
	ContractPaused,
	ContractActivated,
	ContractActivationDeferred,
	ContractCancelled,
	DeliveryMethodUpdated,
	SystemUpdatedDeliveryPrice,
	ManualDeliveryPriceUpdated,
	DeliveryPriceOverrideChanged,
	ShippingAddressChange,
	ShippingAddressChangeSync,
	SendSubscriptionCreatedEmail,
	SendTransactionFailedEmail,
	SendUpcomingOrderEmail,
	SendExpiringCreditCardEmail,
	SendShippingAddressUpdatedEmail,
	SendOrderFrequencyUpdatedEmail,
	SendNextOrderDateUpdatedEmail,
	SendSubscriptionPausedEmail,
	SendSubscriptionCanceledEmail,
	SendSubscriptionResumedEmail,
	SendSubscriptionProductAddedEmail,
	SendSubscriptionProductRemovedEmail,
	SendSubscriptionProductReplacedEmail,
	SendOrderSkippedEmail,
	OneTimePurchaseProductAdded,
	OneTimePurchaseProductRemoved,
	OneTimePurchaseProductUpdate,
	SendSecurityChallengeEmail,
	DiscountApplied,
	DiscountRemoved,
	DunningCancelled,
	DunningSkipped,
	DunningPaused,
	DunningAttemptSkipped,
	BillingAttemptNotification,
	SendSubscriptionManagementLink,
	PriceChangeSync,
	UpdateQueuedAttempts,
	Webhook,
	SplitContract,
	SwitchPaymentMethods,
	PaymentMethodUpdated,
	SendOutOfStockEmail,
	InformationalEvent,
	BulkEmail,
	ContractCreated,
	InitialContractInfo,
	AnchorDayRemoved,
	UpcomingOrderUpdated,
	SubscriptionContractUpdated,
	BillingAttemptUpdated,
	RescheduleFulfillment,
	FulfillmentRefunded,
	SwapAutomationTriggered,
	BABDiscountAdjustment,
	BABProductAdd,
	BABProductRemove,
	BABQuantityChange,
	StopUpcomingOrderEmailUpdated,
	OrderTagsAdded,
	Email,
	SendTransactionSuccessEmail,
	TagsUpdated,
	SendProductPriceUpdatedEmail,
	SubscriptionGroupPlanUpdate,
	SubscriptionGroupPlanCreate,
	SubscriptionGroupPlanDelete,
	Created,
	Updated,
	Deleted,
	SendSuspensionEmail,
	SendSuspensionWarningEmail,
	CurrencyMismatchDetected,
	PricingMethodApplied,
	PricingPolicyDiscountApplied,
	PricingPolicySyncSkipped,
	PricingPolicySyncFailed,
	PricingPolicyNoApplicableCycle,
	PricingPolicyRemoved,
	PricingPolicyOverride,
	AutomaticDiscountUpdate,
	BillingAttemptRefreshed,
	PriceChangeSyncSkipped,
	BasePriceCalculation,
	LineDutyAdded,
	ImmediateRetryTriggered,
	PriceChangeSyncBulkAutomation,
	ScheduleExpiringCreditCardEmail,
	StartedBulkAutomationProcessing,
	DuplicateBillingAttemptDetected,
	AutoResumeScheduled,
	BillingCycleProductsSkipped,
	OrderAttributesSynced,
	DateAttributeModifiedBeforeSync,
	OrderDateSyncFailed,
	DeliveryDateSettingsApplied,
	OrphanedSellingPlanDetected,
	BundleDiscountPercentageRounded,
	PartnerConnected,
	PartnerDisconnected,
	PartnerConnectionRequested,
	PartnerConnectionApproved,
	PartnerConnectionRejected,
	StoreCreditDiscountApplied,
	UpdateStoreCredit,
	SkipPaymentEnabled,
	PrepaidDeferredCancellationScheduled,
	PrepaidDeferredCancellationExecuted,
	PrepaidDeferredCancellationCleared,
	CurrencyAdjustmentRecovery,
	PricingPolicySuppressedForMigratedContract,
	PricingPolicySkippedMigratedByStrategy,
}
