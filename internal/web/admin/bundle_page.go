package admin

import "github.com/perennialhq/perennial/internal/domain/bundle"

// The field lists of the page on which a box is put together. Each has the
// fields of its namesake in package bundle, in the same order, so that one
// converts to the other.

// BundleTexts are what a buyer reads.
type BundleTexts struct {
	SelectedFrequencyLabelText     string `json:"selectedFrequencyLabelText" minLength:"1" maxLength:"1000" doc:"Label above the chosen frequency. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"Selected frequency"`
	AddButtonText                  string `json:"addButtonText" minLength:"1" maxLength:"1000" doc:"On the button that puts a product into the box. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"Add"`
	SelectMinimumProductButtonText string `json:"selectMinimumProductButtonText" minLength:"1" maxLength:"1000" doc:"On the button while products are missing. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"Select more products"`
	ProductsToProceedText          string `json:"productsToProceedText" minLength:"1" maxLength:"1000" doc:"Says how many products are missing. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"products to proceed"`
	ProceedToCheckoutButtonText    string `json:"proceedToCheckoutButtonText" minLength:"1" maxLength:"1000" doc:"On the button that leads to the checkout. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"Proceed to checkout"`
	MyDeliveryText                 string `json:"myDeliveryText" minLength:"1" maxLength:"1000" doc:"Heads the list of what is in the box. May not be empty. Kept for the merchant's storefront; the service does not read it." example:"My delivery"`
	Title                          string `json:"title" maxLength:"1000" doc:"Heads the page. Kept for the merchant's storefront; the service does not read it." example:"Build your box"`
	FailedToAddTitleText           string `json:"failedToAddTitleText" maxLength:"1000" doc:"Heads the message that a product could not be added. Kept for the merchant's storefront; the service does not read it." example:"Not added"`
	FailedToAddMsgText             string `json:"failedToAddMsgText" maxLength:"1000" doc:"The message that a product could not be added. Kept for the merchant's storefront; the service does not read it." example:"This product could not be added."`
	OkBtnText                      string `json:"okBtnText" maxLength:"1000" doc:"On the button that closes a message. Kept for the merchant's storefront; the service does not read it." example:"OK"`
	VariantNotAvailable            string `json:"variantNotAvailable" maxLength:"1000" doc:"Says that a variant cannot be bought. Kept for the merchant's storefront; the service does not read it." example:"Sold out"`
	ViewProduct                    string `json:"viewProduct" maxLength:"1000" doc:"Leads to a product's page. Kept for the merchant's storefront; the service does not read it." example:"View product"`
	ProductDetails                 string `json:"productDetails" maxLength:"1000" doc:"Heads what is said of a product. Kept for the merchant's storefront; the service does not read it." example:"Details"`
	EditQuantity                   string `json:"editQuantity" maxLength:"1000" doc:"Labels the field of a quantity. Kept for the merchant's storefront; the service does not read it." example:"Quantity"`
	Cart                           string `json:"cart" maxLength:"1000" doc:"Names the cart. Kept for the merchant's storefront; the service does not read it." example:"Cart"`
	ShoppingCart                   string `json:"shoppingCart" maxLength:"1000" doc:"Heads the cart. Kept for the merchant's storefront; the service does not read it." example:"Your cart"`
	TieredDiscount                 string `json:"tieredDiscount" maxLength:"1000" doc:"Heads the list of volume discounts. The list itself is discounts.volumeDiscountTiers." example:"Save more"`
	Subtotal                       string `json:"subtotal" maxLength:"1000" doc:"Labels the sum of the box. Kept for the merchant's storefront; the service does not read it." example:"Subtotal"`
	CheckoutMessage                string `json:"checkoutMessage" maxLength:"1000" doc:"Stands above the button to the checkout. Kept for the merchant's storefront; the service does not read it." example:"Taxes are added at checkout"`
	ContinueShopping               string `json:"continueShopping" maxLength:"1000" doc:"On the button back to the products. Kept for the merchant's storefront; the service does not read it." example:"Continue shopping"`
	SpendAmountGetDiscount         string `json:"spendAmountGetDiscount" maxLength:"1000" doc:"Promises a discount for a value. Kept for the merchant's storefront; the service does not read it." example:"Spend more and save"`
	BuyQuantityGetDiscount         string `json:"buyQuantityGetDiscount" maxLength:"1000" doc:"Promises a discount for a number of products. Kept for the merchant's storefront; the service does not read it." example:"Buy more and save"`
	RemoveItem                     string `json:"removeItem" maxLength:"1000" doc:"On the button that takes a product out. Kept for the merchant's storefront; the service does not read it." example:"Remove"`
	CongratsMessageText            string `json:"congratsMessageText" maxLength:"1000" doc:"Says that a discount was reached. Kept for the merchant's storefront; the service does not read it." example:"You have reached a discount"`
	SpentText                      string `json:"spentText" maxLength:"1000" doc:"Labels what was spent so far. Kept for the merchant's storefront; the service does not read it." example:"Spent"`
	QuantityLabel                  string `json:"quantityLabel" maxLength:"1000" doc:"Labels quantities. Kept for the merchant's storefront; the service does not read it." example:"Qty"`
	VariantLabelTextV2             string `json:"variantLabelTextV2" maxLength:"1000" doc:"Labels the choice of a variant. Kept for the merchant's storefront; the service does not read it." example:"Size"`
	ItemsText                      string `json:"itemsText" maxLength:"1000" doc:"The word for products in counts. Kept for the merchant's storefront; the service does not read it." example:"items"`
}

// BundleLook is markup and colours.
type BundleLook struct {
	BundleTopHTML             string `json:"bundleTopHtml" maxLength:"50000" doc:"Markup above the box, passed on as it is. Kept for the merchant's storefront; the service does not read it." example:"<p>Pick your six</p>"`
	BundleBottomHTML          string `json:"bundleBottomHtml" maxLength:"50000" doc:"Markup below the box, passed on as it is. Kept for the merchant's storefront; the service does not read it." example:"<p>Free delivery</p>"`
	LeftSidebarHTML           string `json:"leftSidebarHTML" maxLength:"50000" doc:"Markup of the left column, passed on as it is. Kept for the merchant's storefront; the service does not read it." example:"<p>How it works</p>"`
	RightSidebarHTML          string `json:"rightSidebarHTML" maxLength:"50000" doc:"Markup of the right column, passed on as it is. Kept for the merchant's storefront; the service does not read it." example:"<p>Questions?</p>"`
	ButtonColor               string `json:"buttonColor" maxLength:"100" doc:"Colour of the text on buttons, as in a style sheet. Kept for the merchant's storefront; the service does not read it." example:"#ffffff"`
	ButtonBackgroundColor     string `json:"buttonBackgroundColor" maxLength:"100" doc:"Colour of buttons. Kept for the merchant's storefront; the service does not read it." example:"#1a1a1a"`
	BackgroundColor           string `json:"backgroundColor" maxLength:"100" doc:"Colour behind the products. Kept for the merchant's storefront; the service does not read it." example:"#f6f6f6"`
	PageBackgroundColor       string `json:"pageBackgroundColor" maxLength:"100" doc:"Colour of the page. Kept for the merchant's storefront; the service does not read it." example:"white"`
	ProductTitleFontColor     string `json:"productTitleFontColor" maxLength:"100" doc:"Colour of the products' names. Kept for the merchant's storefront; the service does not read it." example:"#333333"`
	CurrencySwitcherClassName string `json:"currencySwitcherClassName" maxLength:"255" doc:"Style class of the theme's choice of currency. Kept for the merchant's storefront; the service does not read it." example:"currency-picker"`
	ProductPriceFormatField   string `json:"productPriceFormatField" maxLength:"255" doc:"How the theme writes prices. Kept for the merchant's storefront; the service does not read it." example:"{{amount}} {{currency}}"`
	ProductFilterConfig       string `json:"productFilterConfig" maxLength:"20000" doc:"How products are filtered: text that the storefront reads. Kept for the merchant's storefront; the service does not read it." example:"type,vendor"`
}

// BundlePage is what the page does.
type BundlePage struct {
	BundleRedirect                      bundle.Redirect `json:"bundleRedirect" enum:"CART,CHECKOUT,CUSTOM" doc:"Where a complete box leads. Kept for the merchant's storefront; the service does not read it."`
	CustomRedirectURL                   string          `json:"customRedirectURL" maxLength:"2000" doc:"An address beginning with https://, http:// or /. Required with CUSTOM. Kept for the merchant's storefront; the service does not read it." example:"https://demo.example.com/thanks"`
	OpeningSidebarType                  bundle.Sidebar  `json:"openingSidebarType" enum:"DEFAULT,MAX_QUANTITY,STOP_AUTO_OPEN,MIN_AMOUNT" doc:"When the sidebar opens automatically. Kept for the merchant's storefront; the service does not read it."`
	DescriptionLength                   int32           `json:"descriptionLength" minimum:"0" maximum:"10000" doc:"Characters of a product's description that are shown; 0 shows all. Kept for the merchant's storefront; the service does not read it." example:"120"`
	IsBundleWithoutScroll               bool            `json:"isBundleWithoutScroll" doc:"Shows the box without a scroll bar of its own. Kept for the merchant's storefront; the service does not read it."`
	ShowCompareAtPrice                  bool            `json:"showCompareAtPrice" doc:"Shows the price before a reduction. Kept for the merchant's storefront; the service does not read it."`
	EnableRedirectToProductPage         bool            `json:"enableRedirectToProductPage" doc:"Lets a product's name lead to its page. Kept for the merchant's storefront; the service does not read it."`
	DisableProductDescription           bool            `json:"disableProductDescription" doc:"Hides descriptions. Kept for the merchant's storefront; the service does not read it."`
	EnableDisplayProductVendor          bool            `json:"enableDisplayProductVendor" doc:"Shows who makes a product. Kept for the merchant's storefront; the service does not read it."`
	EnableDisplayProductType            bool            `json:"enableDisplayProductType" doc:"Shows a product's type. Kept for the merchant's storefront; the service does not read it."`
	EnableCustomAdvancedFields          bool            `json:"enableCustomAdvancedFields" doc:"Shows fields of the theme. Kept for the merchant's storefront; the service does not read it."`
	EnableProductDetailButton           bool            `json:"enableProductDetailButton" doc:"Shows a button to a product's details. Kept for the merchant's storefront; the service does not read it."`
	EnableShowProductBasePrice          bool            `json:"enableShowProductBasePrice" doc:"Shows prices per unit of measure. Kept for the merchant's storefront; the service does not read it."`
	EnableClearCartSelectedProducts     bool            `json:"enableClearCartSelectedProducts" doc:"Empties the cart before the box is put into it. Kept for the merchant's storefront; the service does not read it."`
	EnableServiceBABHeader              bool            `json:"enableServiceBABHeader" doc:"Shows the service's own heading. Kept for the merchant's storefront; the service does not read it."`
	EnableOpeningSidebar                bool            `json:"enableOpeningSidebar" doc:"Opens the sidebar automatically. Kept for the merchant's storefront; the service does not read it."`
	IsMergeIntoSingleBABVariantDropdown bool            `json:"isMergeIntoSingleBABVariantDropdown" doc:"Offers all options of a product in one list. Kept for the merchant's storefront; the service does not read it."`
	EnableEditQuantityTextbox           bool            `json:"enableEditQuantityTextbox" doc:"Lets a quantity be typed. Kept for the merchant's storefront; the service does not read it."`
	DisplayUnavailableProduct           bool            `json:"displayUnavailableProduct" doc:"Shows products that cannot be bought. Kept for the merchant's storefront; the service does not read it."`
	AllowAddUnavailableProduct          bool            `json:"allowAddUnavailableProduct" doc:"Lets products be added that cannot be bought now. Kept for the merchant's storefront; the service does not read it."`
	ShowOrderNoteField                  bool            `json:"showOrderNoteField" doc:"Asks for a note. Kept for the merchant's storefront; the service does not read it."`
	ShowSubLoyaltyTable                 bool            `json:"showSubLoyaltyTable" doc:"Shows what later orders cost. Kept for the merchant's storefront; the service does not read it."`
	RestrictPriceRateCalculation        bool            `json:"restrictPriceRateCalculation" doc:"Leaves prices in the store's currency. Kept for the merchant's storefront; the service does not read it."`
	DisableProductCardImageSlider       bool            `json:"disableProductCardImageSlider" doc:"Shows one image of a product only. Kept for the merchant's storefront; the service does not read it."`
	SkipFilterVariantsByAllocationsID   bool            `json:"skipFilterVariantsByAllocationsId" doc:"Shows variants that are not on the selling plan. Kept for the merchant's storefront; the service does not read it."`
	MoveOneTimePurchaseToTop            bool            `json:"moveOneTimePurchaseToTop" doc:"Offers a single order first. Kept for the merchant's storefront; the service does not read it."`
	SkipFirstPage                       bool            `json:"skipFirstPage" doc:"Begins with the second page. Kept for the merchant's storefront; the service does not read it."`
}
