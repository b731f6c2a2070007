package admin

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (h lineHandlers) register(api *web.API) {
	web.Register(api, amendment(contractLines, "updateVariant", "/subscription-contract-update-variant", "Replace a line's variant",
		"Puts another variant into a line, at the price that the line's plan gives it. The line is named by its id or by its variant; the id wins. "+
			"The new price counts from the next order. On a plan that is allowed for upgrade and downgrade, the difference for the rest of the term that is paid for is settled with the orders to come, unless skipBilling=false. "+
			"The platform charges a cycle once, so nothing is charged or refunded at once."), h.updateVariant)
	web.Register(api, amendment(contractLines, "updateLineItem", "/subscription-contracts-update-line-item", "Change a line",
		"Sets a line's variant, quantity, unit price or the name of its selling plan: at least one of them, and what is left out stays. Without a price the plan gives the price of a new variant."), h.updateLine)
	web.Register(api, once(amendment(contractLines, "addLineItem", "/subscription-contracts-add-line-item", "Add a line",
		"Adds a recurring line on the plan of the contract's first line, or a product for the next order only. A price may be given. With isOneTimeProduct=true the one-time products of upcoming orders follow the lines in the answer, marked _one_time_product.")), h.addLine)
	web.Register(api, once(amendment(contractLines, "addLineItemWithPrice", "/subscription-contract-add-line-item", "Add a line at a price",
		"As subscription-contracts-add-line-item.")), h.addLine)
	web.Register(api, once(withBody([]newLine{}, amendment(contractLines, "addLineItems", "/subscription-contracts-add-line-items", "Add lines",
		"Adds several recurring lines in one change."))), h.addLines)
	web.Register(api, amendment(contractLines, "removeLineItem", "/subscription-contracts-remove-line-item", "Remove a line",
		"Removes a line, and the discounts that were for it alone unless removeDiscount=false. The last line stays. The line id of a one-time product, as subscription-contracts-add-line-item and contractDetailsJSON have it, takes the product out of its upcoming order."), h.removeLine)
	web.Register(api, withBody([]string{}, amendment(contractLines, "removeLineItems", "/subscription-contracts-remove-line-items", "Remove lines",
		"Removes several lines in one change. The body is the list of their ids. One line at least stays.")), h.removeLines)
	web.Register(api, amendment(contractLines, "updateLineItemPrice", "/subscription-contracts-update-line-item-price", "Change a line's price",
		"Sets a line's unit price. Where the price changes with the orders, it becomes the base price and the steps are computed again from it; a step that is a fixed price and applies now is replaced."), h.updateLinePrice)
	web.Register(api, withBody([]cyclePrice{}, amendment(contractLines, "updateLineItemPricingPolicy", "/subscription-contracts-update-line-item-pricing-policy", "Change a line's prices by cycle",
		"Sets how a line's unit price changes with the orders: at most two steps, in the order of afterCycle. An empty list removes the steps.")), h.updateLinePricing)
	web.Register(api, amendment(contractLines, "updateLineItemQuantity", "/subscription-contracts-update-line-item-quantity", "Change a line's quantity", "Sets a line's quantity."), h.updateLineQuantity)
	web.Register(api, withBody([]record.AttributeObject{}, amendment(contractLines, "updateLineItemAttributes", "/subscription-contracts-update-line-item-attributes", "Change a line's attributes",
		"Replaces a line's attributes.")), h.updateLineAttributes)
	web.Register(api, withBody(map[string][]record.AttributeObject{}, amendment(contractLines, "updateMultipleLineItemAttributes", "/subscription-contracts-update-multiple-line-item-attributes", "Change the attributes of several lines",
		"Replaces the attributes of several lines in one change. The body has them by the ids of the lines; a line that is not named keeps its attributes.")), h.updateLinesAttributes)
	web.Register(api, amendment(contractLines, "updateLineItemSellingPlan", "/subscription-contracts-update-line-item-selling-plan", "Change a line's plan",
		"Puts a line on another selling plan, at the price that the plan gives."), h.updateLinePlan)
	replace := once(withBody(variantSwap{}, amendment(contractLines, "replaceVariants", "/subscription-contract-details/replace-variants-v3", "Replace variants",
		"Replaces the lines with the old variants, or the line named, by the new variants with their quantities, in one change. "+
			"Without new variants the old ones are removed, except the last line of a contract; without old ones the new ones are added. oldOneTimeVariants and newOneTimeVariants do the same with the products of the next order only.")))
	replace.Method = http.MethodPost
	web.Register(api, replace, h.replaceVariants)
}
