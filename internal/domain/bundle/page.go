package bundle

// Texts are what a buyer reads on the page where a box is put together.
type Texts struct {
	SelectedFrequencyLabelText     string
	AddButtonText                  string
	SelectMinimumProductButtonText string
	ProductsToProceedText          string
	ProceedToCheckoutButtonText    string
	MyDeliveryText                 string
	Title                          string
	FailedToAddTitleText           string
	FailedToAddMsgText             string
	OkBtnText                      string
	VariantNotAvailable            string
	ViewProduct                    string
	ProductDetails                 string
	EditQuantity                   string
	Cart                           string
	ShoppingCart                   string
	TieredDiscount                 string
	Subtotal                       string
	CheckoutMessage                string
	ContinueShopping               string
	SpendAmountGetDiscount         string
	BuyQuantityGetDiscount         string
	RemoveItem                     string
	CongratsMessageText            string
	SpentText                      string
	QuantityLabel                  string
	VariantLabelTextV2             string
	ItemsText                      string
}

// Look is the page's markup and colours. It is passed on unchanged.
type Look struct {
	BundleTopHTML             string
	BundleBottomHTML          string
	LeftSidebarHTML           string
	RightSidebarHTML          string
	ButtonColor               string
	ButtonBackgroundColor     string
	BackgroundColor           string
	PageBackgroundColor       string
	ProductTitleFontColor     string
	CurrencySwitcherClassName string
	ProductPriceFormatField   string
	ProductFilterConfig       string
}

// Page is what the page does.
type Page struct {
	BundleRedirect                      Redirect
	CustomRedirectURL                   string
	OpeningSidebarType                  Sidebar
	DescriptionLength                   int32 // characters of a product's description; 0: all
	IsBundleWithoutScroll               bool
	ShowCompareAtPrice                  bool
	EnableRedirectToProductPage         bool
	DisableProductDescription           bool
	EnableDisplayProductVendor          bool
	EnableDisplayProductType            bool
	EnableCustomAdvancedFields          bool
	EnableProductDetailButton           bool
	EnableShowProductBasePrice          bool
	EnableClearCartSelectedProducts     bool
	EnableServiceBABHeader              bool
	EnableOpeningSidebar                bool
	IsMergeIntoSingleBABVariantDropdown bool
	EnableEditQuantityTextbox           bool
	DisplayUnavailableProduct           bool
	AllowAddUnavailableProduct          bool
	ShowOrderNoteField                  bool
	ShowSubLoyaltyTable                 bool
	RestrictPriceRateCalculation        bool
	DisableProductCardImageSlider       bool
	SkipFilterVariantsByAllocationsID   bool
	MoveOneTimePurchaseToTop            bool
	SkipFirstPage                       bool
}

// Redirect is where the page leads when the box is complete.
type Redirect string

// The redirects.
const (
	ToCart     Redirect = "CART"
	ToCheckout Redirect = "CHECKOUT"
	ToCustom   Redirect = "CUSTOM"
)

// Redirects lists every redirect.
var Redirects = []Redirect{ToCart, ToCheckout, ToCustom}

// Sidebar is when the sidebar opens automatically.
type Sidebar string

// The sidebars.
const (
	SidebarDefault     Sidebar = "DEFAULT"
	SidebarMaxQuantity Sidebar = "MAX_QUANTITY"
	SidebarStopped     Sidebar = "STOP_AUTO_OPEN"
	SidebarMinAmount   Sidebar = "MIN_AMOUNT"
)

// Sidebars lists every sidebar.
var Sidebars = []Sidebar{SidebarDefault, SidebarMaxQuantity, SidebarStopped, SidebarMinAmount}

// defaultTexts returns the texts that may not be empty.
func defaultTexts() Texts {
	return Texts{
		SelectedFrequencyLabelText:     "Selected frequency",
		AddButtonText:                  "Add",
		SelectMinimumProductButtonText: "Select more products",
		ProductsToProceedText:          "products to proceed",
		ProceedToCheckoutButtonText:    "Proceed to checkout",
		MyDeliveryText:                 "My delivery",
	}
}
