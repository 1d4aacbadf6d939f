// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoVault
/// @notice The operator's inventory on one chain, and the proof of each delivery made from it.
/// @dev The zero address as a token is the chain's native coin.
interface IGeoVault {
    /// @notice One delivery's terms, except its ring and token.
    /// @param index The op's index: round x 2^32 + position; below 2^64.
    /// @param amount The amount paid, at least minOutput.
    /// @param minOutput The minimum that the wallet signed.
    /// @param recipient The recipient.
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

    /// @dev `delivery` is hashStruct(Delivery) of the payment. In a final block this log is the proof of delivery. `amount`
    ///      is what the recipient's balance grew by, or, of a plain token and native coin, what was paid.
    event Delivered(bytes32 indexed delivery, uint256 amount);
    /// @dev `deliverMany` left this delivery out. It proves nothing about the delivery's future.
    event DeliverFailed(bytes32 indexed delivery);
    /// @dev The treasury named another guardian; zero for none.
    event GuardianSet(address indexed guardian);
    /// @dev A deliverer key was allowed or revoked.
    event DelivererSet(address indexed deliverer, bool isAllowed);
    /// @dev An adapter was allowed or revoked.
    event AdapterSet(address indexed adapter, bool isAllowed);
    /// @dev The maximum of a token that deliveries can pay per hour.
    event CapSet(address indexed token, uint256 limitPerHour);
    /// @dev The treasury marked a token as plain, or no longer so.
    event PlainTokenSet(address indexed token, bool isPlain);
    /// @dev The treasury withdrew inventory.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @dev Only a deliverer key.
    error NotDeliverer();
    /// @dev Only the treasury, or, to lower a cap or revoke a deliverer, the guardian.
    error NotTreasury();
    /// @dev Only an allowed adapter.
    error NotAdapter();
    /// @dev The fill's deadline has passed.
    error Late();
    /// @dev This round of the position, or a higher one, was delivered. Round 0 is not valid.
    error AlreadyDelivered();
    /// @dev The index or position does not fit its field.
    error IndexOutOfRange();
    /// @dev The amount, or what the recipient's balance grew by, is below the signed minimum.
    error BelowMinimum();
    /// @dev The zero address, the token itself, this vault and its escrow cannot be paid.
    error BadRecipient();
    /// @dev The token's cap for this hour is used up.
    error CapReached();
    /// @dev A cap is at most 2^112 - 1.
    error CapTooLarge();
    /// @dev The recipient or the token refused the payment.
    error PaymentRefused();
    /// @dev The adapter took more than `maxIn`.
    error Overspent();
    /// @dev Too little gas to give a payment its full allowance; nothing was changed.
    error LowGas();
    /// @dev Only this contract itself.
    error NotSelf();
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

    /// @notice Pays one delivery by buying its output from a venue. Reverts unless the recipient's balance grew by at
    ///         least the fill's amount. Deliverers only.
    /// @param adapter An allowed adapter.
    /// @param ring The op's ring.
    /// @param tokenIn The inventory token to sell.
    /// @param maxIn The maximum to sell; it counts towards that token's cap, whether spent or not.
    /// @param tokenOut The output token.
    /// @param fill The terms.
    /// @param data Data for the adapter.
    function deliverVia(
        address adapter,
        bytes32 ring,
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        Fill calldata fill,
        bytes calldata data
    ) external;

    /// @notice Pays one delivery of a batch in a token that is not plain. Only this contract calls it.
    /// @param ring The op's ring.
    /// @param token The output token.
    /// @param fill The terms.
    function deliverMeasured(bytes32 ring, address token, Fill calldata fill) external;

    /// @notice Names the key that can lower caps, here and in the escrow, and revoke deliverers. Treasury only.
    /// @param newGuardian The key; zero for none.
    function setGuardian(address newGuardian) external;

    /// @notice Allows or revokes a deliverer key. Treasury only; the guardian can revoke.
    /// @param deliverer The key.
    /// @param isAllowed Whether it may deliver.
    function setDeliverer(address deliverer, bool isAllowed) external;

    /// @notice Allows or revokes an adapter. Treasury only.
    /// @param adapter The adapter.
    /// @param isAllowed Whether it may be used.
    function setAdapter(address adapter, bool isAllowed) external;

    /// @notice Sets how much of a token deliveries can pay per hour. Treasury only; the guardian can lower it.
    /// @dev A token without a cap cannot be delivered. The amount spent this hour is kept.
    /// @param token The token.
    /// @param limitPerHour The limit, at most 2^112 - 1.
    function setCap(address token, uint256 limitPerHour) external;

    /// @notice Marks a token whose transfers move exactly the amount, so that balances need not be compared. Treasury only.
    /// @param token The token.
    /// @param isPlain Whether it is one. Native coin always is.
    function setPlainToken(address token, bool isPlain) external;

    /// @notice Withdraws inventory. Treasury only.
    /// @param token The token.
    /// @param to The recipient.
    /// @param amount The amount.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice Collects this vault's credit from an escrow, after the token had refused the vault. Treasury only.
    /// @param escrow The escrow.
    /// @param token The token of the credit.
    function collectCredit(address escrow, address token) external;

    /// @notice The last delivered round of a position. It has no terms: only a Delivered log proves a delivery.
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

    /// @notice Whether a token is marked as plain.
    /// @param token The token.
    function plainTokens(address token) external view returns (bool);

    /// @notice hashStruct(Delivery) of a delivery by this vault on this chain.
    /// @param ring The ring.
    /// @param token The output token.
    /// @param fill The terms; the amount is not hashed.
    function hashDelivery(bytes32 ring, address token, Fill calldata fill) external view returns (bytes32);

    /// @notice A token's cap and the amount spent this hour.
    /// @param token The token.
    function caps(address token) external view returns (uint256 limitPerHour, uint256 spentThisHour);

    /// @notice The owner of the inventory.
    function TREASURY() external view returns (address);

    /// @notice The escrow that this vault created, which is never paid a delivery.
    function ESCROW() external view returns (address);

    /// @notice The key that can lower caps, here and in the escrow, and revoke deliverers; zero if there is none.
    function guardian() external view returns (address);
}
