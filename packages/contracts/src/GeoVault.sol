// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {GeoEscrow} from "./GeoEscrow.sol";
import {IGeoAdapter} from "./interfaces/IGeoAdapter.sol";
import {IGeoEscrow} from "./interfaces/IGeoEscrow.sol";
import {IGeoVault} from "./interfaces/IGeoVault.sol";
import {CappedCallLib} from "./libraries/CappedCallLib.sol";
import {GeoOpLib} from "./libraries/GeoOpLib.sol";
import {HourlyCapLib} from "./libraries/HourlyCapLib.sol";
import {LaneLib} from "./libraries/LaneLib.sol";

/// @title GeoVault
/// @notice The operator's inventory. Deliverer keys pay outputs from it, each at most once. The log of a payment is
///         the proof of delivery for the attester and for anyone else.
///
/// Funds it can move: its own, to a delivery's recipient within a cap per token and hour, or by the treasury.
///
/// Attacks it prevents:
/// - A delivery paid twice: the position's last round is written before the payment, and only a higher one is accepted.
/// - Positions of one chain blocking those of another: the key is the ring, which names origin chain, escrow and locker.
/// - Late, insufficient or lost payments: deadline, minimum and recipient are checked before the payment.
/// - Tokens that deliver less than they are told: the recipient's balance is compared, unless the treasury marked the
///   token as plain.
/// - Unsigned terms: the logged hash is computed from the actual payment, on this chain, by this vault.
/// - A stolen deliverer key: caps per token and hour, and treasury or guardian can revoke each key.
/// - A stolen guardian key: it can only lower caps and revoke deliverers.
/// - Batches poisoned by one delivery: each payment has its own gas; a failing, late, used or over-cap one is left out.
/// - Recipients and venues that re-enter: one transient guard over every call that moves funds.
/// - Venues that take too much or give too little: exact approval, reset after; balances are compared, or it reverts.
contract GeoVault is IGeoVault {
    using HourlyCapLib for uint256;
    using LaneLib for uint256;

    /// @dev A word in a struct, so that its storage slot is computed once for a read and a write.
    struct Row {
        uint256 word;
    }

    /// @dev Gas limits of a recipient that is paid in native coin, and of a token's transfer in a batch.
    uint256 private constant NATIVE_PUSH_GAS = 50_000;
    uint256 private constant TOKEN_PUSH_GAS = 150_000;
    /// @dev EIP-150 withholds 1/64 from a call; 50,000 cover the record before it (a new word is 22,100) and the log after.
    ///      Covers native pushes too: their own cap, and 36,600 for a call to a new account.
    uint256 private constant PUSH_GAS_FLOOR = TOKEN_PUSH_GAS * 64 / 63 + 50_000;
    /// @dev As above, for a whole delivery with two reads of the recipient's balance.
    uint256 private constant MEASURED_GAS = TOKEN_PUSH_GAS + 150_000;
    uint256 private constant MEASURED_GAS_FLOOR = MEASURED_GAS * 64 / 63 + 50_000;

    /// @inheritdoc IGeoVault
    address public immutable TREASURY;
    /// @inheritdoc IGeoVault
    address public immutable ESCROW;

    /// @inheritdoc IGeoVault
    address public guardian;
    /// @inheritdoc IGeoVault
    mapping(address deliverer => bool) public deliverers;
    /// @inheritdoc IGeoVault
    mapping(address adapter => bool) public adapters;

    mapping(bytes32 ring => mapping(uint256 row => Row)) private _lanes;
    mapping(address token => uint256 word) private _caps;
    /// @dev 1 during a call. A whole word, because a packed flag costs a read with each write.
    uint256 private transient _entered;

    modifier nonReentrant() {
        if (_entered != 0) revert Reentrancy();
        _entered = 1;
        _;
        _entered = 0;
    }

    modifier onlyDeliverer() {
        if (!deliverers[msg.sender]) revert NotDeliverer();
        _;
    }

    modifier onlyTreasury() {
        if (msg.sender != TREASURY) revert NotTreasury();
        _;
    }

    /// @dev Equal arguments on all chains give equal addresses by CREATE2, whatever the deployer's address.
    ///      Creates the escrow: each must know the other.
    constructor(address treasury, address[] memory attesters, uint256 threshold) {
        TREASURY = treasury;
        ESCROW = address(new GeoEscrow(address(this), attesters, threshold, treasury));
    }

    /// @dev Claimed native inputs, change from adapters and deposits arrive here.
    receive() external payable {}

    /// @inheritdoc IGeoVault
    function deliver(bytes32 ring, address token, Fill calldata fill) external onlyDeliverer nonReentrant {
        bool isPlain = _spend(token, fill.amount) || token == address(0);
        if (!isPlain) return _deliverMeasured(ring, token, fill);

        _requireFillable(token, fill);
        _record(ring, fill.index);
        emit Delivered(hashDelivery(ring, token, fill), fill.amount);
        if (token != address(0)) return SafeTransferLib.safeTransfer(token, fill.recipient, fill.amount);
        if (!SafeTransferLib.trySafeTransferETH(fill.recipient, fill.amount, NATIVE_PUSH_GAS)) revert PaymentRefused();
    }

    /// @inheritdoc IGeoVault
    function deliverMany(DeliveryOrder[] calldata orders) external onlyDeliverer nonReentrant {
        address token;
        uint256 cap;
        uint256 room;
        uint256 left;
        bool isPlain;
        for (uint256 i; i < orders.length; ++i) {
            DeliveryOrder calldata order = orders[i];
            if (i == 0 || order.token != token) {
                _bookSpent(token, cap, room - left);
                token = order.token;
                cap = _caps[token];
                left = room = cap.room();
                isPlain = cap.isMarked() || token == address(0);
            }
            bool isDelivered = isPlain
                ? _tryDeliver(order.ring, token, order.fill, left)
                : _tryDeliverMeasured(order.ring, token, order.fill, left);
            if (isDelivered) {
                unchecked {
                    left -= order.fill.amount;
                }
            }
        }
        _bookSpent(token, cap, room - left);
    }

    /// @inheritdoc IGeoVault
    function deliverMeasured(bytes32 ring, address token, Fill calldata fill) external {
        if (msg.sender != address(this)) revert NotSelf();
        _deliverMeasured(ring, token, fill);
    }

    /// @inheritdoc IGeoVault
    function deliverVia(
        address adapter,
        bytes32 ring,
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        Fill calldata fill,
        bytes calldata data
    ) external onlyDeliverer nonReentrant {
        if (!adapters[adapter]) revert NotAdapter();
        _requireFillable(tokenOut, fill);
        _spend(tokenIn, maxIn);
        _record(ring, fill.index);

        uint256 before = _balanceOf(tokenOut, fill.recipient);
        _buy(adapter, tokenIn, maxIn, tokenOut, fill, data);
        uint256 received = _balanceOf(tokenOut, fill.recipient) - before;
        if (received < fill.amount) revert BelowMinimum();
        emit Delivered(hashDelivery(ring, tokenOut, fill), received);
    }

    /// @inheritdoc IGeoVault
    function setGuardian(address newGuardian) external onlyTreasury {
        guardian = newGuardian;
        emit GuardianSet(newGuardian);
    }

    /// @inheritdoc IGeoVault
    function setDeliverer(address deliverer, bool isAllowed) external {
        _requireMaySet(!isAllowed);
        deliverers[deliverer] = isAllowed;
        emit DelivererSet(deliverer, isAllowed);
    }

    /// @inheritdoc IGeoVault
    function setAdapter(address adapter, bool isAllowed) external onlyTreasury {
        adapters[adapter] = isAllowed;
        emit AdapterSet(adapter, isAllowed);
    }

    /// @inheritdoc IGeoVault
    function setCap(address token, uint256 limitPerHour) external nonReentrant {
        uint256 word = _caps[token];
        _requireMaySet(limitPerHour < word.limit());
        if (limitPerHour > HourlyCapLib.MAX_LIMIT) revert CapTooLarge();
        _caps[token] = word.withLimit(limitPerHour);
        emit CapSet(token, limitPerHour);
    }

    /// @inheritdoc IGeoVault
    function setPlainToken(address token, bool isPlain) external onlyTreasury nonReentrant {
        _caps[token] = _caps[token].withMark(isPlain);
        emit PlainTokenSet(token, isPlain);
    }

    /// @inheritdoc IGeoVault
    function withdraw(address token, address to, uint256 amount) external onlyTreasury nonReentrant {
        if (to == address(0)) revert BadRecipient();
        emit Withdrawn(token, to, amount);
        if (token == address(0)) SafeTransferLib.safeTransferETH(to, amount);
        else SafeTransferLib.safeTransfer(token, to, amount);
    }

    /// @inheritdoc IGeoVault
    function collectCredit(address escrow, address token) external onlyTreasury nonReentrant {
        IGeoEscrow(escrow).withdraw(token, address(this));
    }

    /// @inheritdoc IGeoVault
    function lastRound(bytes32 ring, uint256 position) public view returns (uint256) {
        if (position > type(uint32).max) revert IndexOutOfRange();
        return _lanes[ring][LaneLib.row(position)].word.lastRound(position);
    }

    /// @inheritdoc IGeoVault
    function lastRounds(bytes32[] calldata rings, uint256[] calldata positions)
        external
        view
        returns (uint256[] memory rounds)
    {
        rounds = new uint256[](rings.length);
        for (uint256 i; i < rings.length; ++i) rounds[i] = lastRound(rings[i], positions[i]);
    }

    /// @inheritdoc IGeoVault
    function hashDelivery(bytes32 ring, address token, Fill calldata fill) public view returns (bytes32) {
        return GeoOpLib.hashDelivery(
            ring, fill.index, address(this), token, fill.minOutput, fill.recipient, fill.fillDeadline
        );
    }

    /// @inheritdoc IGeoVault
    function caps(address token) external view returns (uint256 limitPerHour, uint256 spentThisHour) {
        uint256 word = _caps[token];
        return (word.limit(), word.spent());
    }

    /// @inheritdoc IGeoVault
    function plainTokens(address token) external view returns (bool) {
        return _caps[token].isMarked();
    }

    /// @dev The treasury may set anything, the guardian only what takes power away.
    function _requireMaySet(bool isLess) private view {
        if (msg.sender == TREASURY || isLess && msg.sender == guardian) return;
        revert NotTreasury();
    }

    /// @dev The rules of a single delivery that need no storage, each with its own error.
    function _requireFillable(address token, Fill calldata fill) private view {
        if (block.timestamp > fill.fillDeadline) revert Late();
        if (fill.amount < fill.minOutput) revert BelowMinimum();
        if (!_isPayable(token, fill.recipient)) revert BadRecipient();
        if (fill.index >> 64 != 0) revert IndexOutOfRange();
    }

    /// @dev False for recipients where a payment would be lost or have no effect. An op's address cannot be told from
    ///      others while it has no code; what is paid there goes to that op's wallet by `recover`.
    function _isPayable(address token, address recipient) private view returns (bool) {
        if (recipient == address(0) || recipient == token) return false;
        return recipient != address(this) && recipient != ESCROW;
    }

    /// @dev Prevents a second delivery: writes the index's round, which must be higher than the position's last.
    function _record(bytes32 ring, uint256 index) private {
        Row storage row = _lanes[ring][LaneLib.row(index)];
        uint256 word = row.word;
        if (!word.accepts(index)) revert AlreadyDelivered();
        row.word = word.withRound(index);
    }

    /// @dev Counts a payment. Returns whether the token is marked as plain, which the same word says.
    function _spend(address token, uint256 amount) private returns (bool isPlain) {
        uint256 word = _caps[token];
        if (amount > word.room()) revert CapReached();
        _caps[token] = word.spend(amount);
        return word.isMarked();
    }

    /// @dev Pays a token that is not plain. The recipient's balance must grow by at least the minimum.
    function _deliverMeasured(bytes32 ring, address token, Fill calldata fill) private {
        _requireFillable(token, fill);
        _record(ring, fill.index);
        uint256 before = _balanceOf(token, fill.recipient);
        SafeTransferLib.safeTransfer(token, fill.recipient, fill.amount);
        uint256 received = _balanceOf(token, fill.recipient) - before;
        if (received < fill.minOutput) revert BelowMinimum();
        emit Delivered(hashDelivery(ring, token, fill), received);
    }

    /// @dev Pays one delivery of a batch, or reports it and leaves its lane unchanged. `room` is the rest of the cap.
    function _tryDeliver(bytes32 ring, address token, Fill calldata fill, uint256 room) private returns (bool) {
        uint256 index = fill.index;
        uint256 amount = fill.amount;
        address recipient = fill.recipient;
        bytes32 delivery =
            GeoOpLib.hashDelivery(ring, index, address(this), token, fill.minOutput, recipient, fill.fillDeadline);
        Row storage row = _lanes[ring][LaneLib.row(index)];
        uint256 word = row.word;
        if (amount > room || !_isPayable(token, recipient) || !_isFillable(fill, word)) {
            emit DeliverFailed(delivery);
            return false;
        }
        if (gasleft() < PUSH_GAS_FLOOR) revert LowGas();

        row.word = word.withRound(index);
        if (CappedCallLib.tryPay(token, recipient, amount, NATIVE_PUSH_GAS, TOKEN_PUSH_GAS)) {
            emit Delivered(delivery, amount);
            return true;
        }
        row.word = word;
        emit DeliverFailed(delivery);
        return false;
    }

    /// @dev As `_tryDeliver`, for a token that is not plain. The call to itself undoes a payment that is too little.
    function _tryDeliverMeasured(bytes32 ring, address token, Fill calldata fill, uint256 room)
        private
        returns (bool)
    {
        if (gasleft() < MEASURED_GAS_FLOOR) revert LowGas();
        if (fill.amount <= room) {
            try this.deliverMeasured{gas: MEASURED_GAS}(ring, token, fill) {
                return true;
            } catch {}
        }
        emit DeliverFailed(hashDelivery(ring, token, fill));
        return false;
    }

    /// @dev The rules of `_requireFillable` and `_record`, for a batch. `word` is the fill's row of lanes.
    function _isFillable(Fill calldata fill, uint256 word) private view returns (bool) {
        if (block.timestamp > fill.fillDeadline) return false;
        if (fill.amount < fill.minOutput) return false;
        if (fill.index >> 64 != 0) return false;
        return word.accepts(fill.index);
    }

    /// @dev Counts a batch's payments of one token. The guard prevents calls that would see or change the old `cap`.
    function _bookSpent(address token, uint256 cap, uint256 amount) private {
        if (amount != 0) _caps[token] = cap.spend(amount);
    }

    /// @dev Lets the adapter sell at most `maxIn`, and resets its approval.
    function _buy(
        address adapter,
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        Fill calldata fill,
        bytes calldata data
    ) private {
        bool isNative = tokenIn == address(0);
        uint256 before = _balanceOf(tokenIn, address(this));
        if (!isNative) SafeTransferLib.safeApproveWithRetry(tokenIn, adapter, maxIn);
        IGeoAdapter(adapter).buy{value: isNative ? maxIn : 0}(
            tokenIn, maxIn, tokenOut, fill.amount, fill.recipient, data
        );
        if (!isNative) SafeTransferLib.safeApproveWithRetry(tokenIn, adapter, 0);
        if (_balanceOf(tokenIn, address(this)) + maxIn < before) revert Overspent();
    }

    function _balanceOf(address token, address account) private view returns (uint256) {
        return token == address(0) ? account.balance : SafeTransferLib.balanceOf(token, account);
    }
}
