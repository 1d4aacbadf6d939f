// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoVault
/// @notice The operator's inventory on one chain, and the proof of each delivery made from it.
/// @dev The zero address as a token is the chain's native coin.
interface IGeoVault {
    /// @notice One delivery's terms, except its ring and token.
    /// @param index The op's index: round x 2^32 + position; below 2^64.
    /// @param amount What is paid, at least minOutput.
    /// @param minOutput What the wallet signed.
    /// @param recipient Who is paid.
    /// @param fillDeadline Last second at which it can be paid.
    struct Fill {
        uint256 index;
        uint256 amount;
        uint256 minOutput;
        address recipient;
        uint256 fillDeadline;
    }

    /// @notice One delivery of a batch.
    struct DeliveryOrder {
        bytes32 ring;
        address token;
        Fill fill;
    }

    /// @dev `delivery` is hashStruct(Delivery) of what was paid. In a final block this log is the proof of delivery.
    event Delivered(bytes32 indexed delivery, uint256 amount);
    /// @dev `deliverMany` left this delivery out. It proves nothing about the delivery's future.
    event DeliverFailed(bytes32 indexed delivery);
    /// @dev A key may deliver, or no longer.
    event DelivererSet(address indexed deliverer, bool isAllowed);
    /// @dev An adapter may buy outputs, or no longer.
    event AdapterSet(address indexed adapter, bool isAllowed);
    /// @dev The most that can leave of a token per hour through deliveries.
    event CapSet(address indexed token, uint256 limitPerHour);
    /// @dev The treasury took inventory out.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @dev Only a deliverer key.
    error NotDeliverer();
    /// @dev Only the treasury.
    error NotTreasury();
    /// @dev Only an allowed adapter.
    error NotAdapter();
    /// @dev A role cannot be the zero address.
    error ZeroAddress();
    /// @dev The fill's deadline has passed.
    error Late();
    /// @dev This round of the position, or a higher one, was delivered. Round 0 is none.
    error AlreadyDelivered();
    /// @dev The index or position does not fit its field.
    error IndexOutOfRange();
    /// @dev Less than the wallet signed.
    error BelowMinimum();
    /// @dev The zero address, the token itself and this vault cannot be paid.
    error BadRecipient();
    /// @dev The token's cap for this hour is used up.
    error CapReached();
    /// @dev A cap is at most 2^112 - 1.
    error CapTooLarge();
    /// @dev The recipient or the token refused the payment.
    error PaymentRefused();
    /// @dev The adapter took more than it was allowed to.
    error Overspent();
    /// @dev Too little gas to give a payment its full allowance; nothing was changed.
    error LowGas();
    /// @dev A call into the vault during another one.
    error Reentrancy();

    /// @notice Pays one delivery. Deliverers only.
    /// @param ring The op's ring: keccak256(abi.encode(origin chain id, escrow, locker)).
    /// @param token The output token.
    /// @param fill The terms.
    function deliver(bytes32 ring, address token, Fill calldata fill) external;

    /// @notice Pays many deliveries, of any rings and tokens. One that cannot be paid is reported and left out. Deliverers only.
    /// @param orders The deliveries; those with equal tokens side by side cost less.
    function deliverMany(DeliveryOrder[] calldata orders) external;

    /// @notice Pays one delivery by buying its output from a venue. All reverts unless the recipient's balance grew by at
    ///         least the fill's amount. Deliverers only.
    /// @param adapter An allowed adapter.
    /// @param ring The op's ring.
    /// @param tokenIn What is sold from the inventory.
    /// @param maxIn The most that is sold; it counts in that token's cap, whether spent or not.
    /// @param tokenOut The output token.
    /// @param fill The terms.
    /// @param data What the adapter needs to know.
    function deliverVia(
        address adapter,
        bytes32 ring,
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        Fill calldata fill,
        bytes calldata data
    ) external;

    /// @notice Allows or revokes a deliverer key. Treasury only.
    /// @param deliverer The key.
    /// @param isAllowed Whether it may deliver.
    function setDeliverer(address deliverer, bool isAllowed) external;

    /// @notice Allows or revokes an adapter. Treasury only.
    /// @param adapter The adapter.
    /// @param isAllowed Whether it may be used.
    function setAdapter(address adapter, bool isAllowed) external;

    /// @notice Sets how much of a token can leave per hour through deliveries. Treasury only.
    /// @dev A token without a cap cannot be delivered. What was spent this hour stays spent.
    /// @param token The token.
    /// @param limitPerHour The limit, at most 2^112 - 1.
    function setCap(address token, uint256 limitPerHour) external;

    /// @notice Takes inventory out. Treasury only.
    /// @param token The token.
    /// @param to Where it goes.
    /// @param amount How much.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice Brings in what an escrow credited to this vault because the token refused the vault. Treasury only.
    /// @param escrow The escrow.
    /// @param token The token of the credit.
    function collectCredit(address escrow, address token) external;

    /// @notice Sends what an escrow credited to this vault elsewhere, for a token that refuses the vault for good. Treasury only.
    /// @param escrow The escrow.
    /// @param token The token of the credit.
    /// @param to Where it goes.
    function collectCreditTo(address escrow, address token, address to) external;

    /// @notice The last delivered round of a position. It knows no terms: only a Delivered log proves a delivery.
    /// @param ring The ring.
    /// @param position The position, below 2^32.
    function lastRound(bytes32 ring, uint256 position) external view returns (uint256);

    /// @notice The last delivered rounds of many positions.
    /// @param rings The rings.
    /// @param positions The positions, one for each ring.
    function lastRounds(bytes32[] calldata rings, uint256[] calldata positions)
        external
        view
        returns (uint256[] memory rounds);

    /// @notice Whether a key may deliver.
    /// @param deliverer The key.
    function deliverers(address deliverer) external view returns (bool);

    /// @notice Whether an adapter may be used.
    /// @param adapter The adapter.
    function adapters(address adapter) external view returns (bool);

    /// @notice hashStruct(Delivery) of a delivery by this vault on this chain.
    /// @param ring The ring.
    /// @param token The output token.
    /// @param fill The terms; the amount plays no part.
    function hashDelivery(bytes32 ring, address token, Fill calldata fill) external view returns (bytes32);

    /// @notice A token's cap and what left of it this hour.
    /// @param token The token.
    function caps(address token) external view returns (uint256 limitPerHour, uint256 spentThisHour);

    /// @notice Who owns the inventory.
    function TREASURY() external view returns (address);
}
