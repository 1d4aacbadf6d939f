// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {EIP712} from "solady/src/utils/EIP712.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {GeoAccount} from "./GeoAccount.sol";
import {IGeoAccount} from "./interfaces/IGeoAccount.sol";
import {IGeoEscrow} from "./interfaces/IGeoEscrow.sol";
import {CappedCallLib} from "./libraries/CappedCallLib.sol";
import {GeoOpLib} from "./libraries/GeoOpLib.sol";
import {HourlyCapLib} from "./libraries/HourlyCapLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {SlotLib} from "./libraries/SlotLib.sol";

/// @title GeoEscrow
/// @notice Holds inputs in transit. A locker takes the input of an op that a wallet signed. The input then goes to the
///         vault once the attester has confirmed the delivery, or back to the wallet: at once with the attester's
///         signature, by anyone after the op's refundDeadline. Nobody can pause that or change this contract.
///
/// Funds it can move: its own. Each op's input is paid once, either to the vault or to the wallet.
///
/// Attacks it prevents:
/// - Replay of an op, also on another chain or in another escrow: one word per index, and the EIP-712 domain.
/// - Griefing of positions: each locker has its own ring of positions, and the wallet signs the locker.
/// - A wallet without delegation, or with another one, where a call "succeeds": the wallet's code hash is compared.
/// - Stuck funds: refundDeadline is at most 7 days away; a refused payment becomes a credit, and the op closes.
/// - A delivered op refunded because the vault could not be paid: the claim closes the op and credits the vault.
/// - Batches poisoned by one op: each op has its own gas, and a failure leaves no trace but a log.
/// - Callers that supply too little gas, so that a good op fails or a payment becomes a credit: the call reverts.
/// - Re-entrancy through tokens or wallets: one transient guard over every call that moves funds.
/// - A stolen attester key: it can pay only the vault or the wallets, and the vault at most a cap per hour.
/// - A malicious treasury: it can change the attester only after every earlier op can be refunded.
contract GeoEscrow is IGeoEscrow, EIP712 {
    using HourlyCapLib for uint256;
    using SlotLib for uint256;

    /// @dev A word in a struct, so that its storage slot is computed once for a read and a write.
    struct Slot { uint256 word; }

    /// @dev The longest time an op can hold a wallet's funds.
    uint256 private constant MAX_HOLD = 7 days;
    /// @dev MAX_HOLD and one day to notice the proposal.
    uint256 private constant ATTESTER_DELAY = 8 days;
    /// @dev Gas limit of `pay` for one op of a batch: real tokens need a third of it.
    uint256 private constant LOCK_GAS = 250_000;
    /// @dev Gas limit for reading a token's balance.
    uint256 private constant BALANCE_GAS = 50_000;
    /// @dev EIP-150 withholds 1/64 from a call; 50,000 cover the record before it (a new word is 22,100) and the log after.
    uint256 private constant LOCK_GAS_FLOOR = LOCK_GAS * 64 / 63 + 50_000;
    uint256 private constant BALANCE_GAS_FLOOR = BALANCE_GAS * 64 / 63 + LOCK_GAS_FLOOR;
    /// @dev Gas limits of a wallet that is paid in native coin, and of a token's transfer.
    uint256 private constant NATIVE_PUSH_GAS = 50_000;
    uint256 private constant TOKEN_PUSH_GAS = 200_000;
    /// @dev 60,000 cover the call itself (at most 36,600, to a new account) or the credit (25,000).
    uint256 private constant PUSH_GAS_FLOOR = TOKEN_PUSH_GAS * 64 / 63 + 60_000;

    /// @inheritdoc IGeoEscrow
    address public immutable VAULT;
    /// @inheritdoc IGeoEscrow
    address public immutable ACCOUNT;
    /// @inheritdoc IGeoEscrow
    address public immutable TREASURY;
    /// @dev Code hash of a wallet delegated to ACCOUNT: EIP-7702's 0xef0100 and the address.
    bytes32 private immutable DELEGATED;

    /// @inheritdoc IGeoEscrow
    address public attester;
    /// @inheritdoc IGeoEscrow
    mapping(address owner => mapping(address token => uint256)) public credits;
    /// @inheritdoc IGeoEscrow
    mapping(address owner => uint256) public nonces;

    mapping(uint256 key => Slot) private _slots;
    mapping(address token => uint256 word) private _claimCaps;
    address private _nextAttester;
    uint64 private _nextAttesterReadyAt;
    /// @dev 1 during a call. A whole word, because a packed flag costs a read with each write.
    uint256 private transient _entered;

    modifier nonReentrant() {
        if (_entered != 0) revert Reentrancy();
        _entered = 1;
        _;
        _entered = 0;
    }

    modifier onlyTreasury() {
        if (msg.sender != TREASURY) revert NotTreasury();
        _;
    }

    /// @dev Equal arguments on all chains give equal addresses by CREATE2, whatever the deployer's address.
    constructor(address vault, address attester_, address treasury) {
        if (vault == address(0) || attester_ == address(0) || treasury == address(0)) revert ZeroAddress();
        VAULT = vault;
        TREASURY = treasury;
        attester = attester_;
        ACCOUNT = address(new GeoAccount());
        DELEGATED = keccak256(abi.encodePacked(hex"ef0100", ACCOUNT));
    }

    /// @dev Wallets pay native inputs by plain transfer. Coins from anyone else are lost to the sender.
    receive() external payable {}

    /// @inheritdoc IGeoEscrow
    function lock(Op calldata op, bytes32 r, bytes32 vs) external nonReentrant {
        Slot storage place = _slots[SlotLib.key(msg.sender, op.index)];
        bytes4 refusal = _refusal(op, place.word);
        if (refusal != 0) _revertWith(refusal);
        (bool ok, uint256 expected) = _balanceWith(op.inputToken, op.inputAmount);
        if (!ok) revert BadBalance();

        bytes32 hash = hashOp(op, msg.sender);
        place.word = SlotLib.stateless(op.index, hash) | SlotLib.LOCKED;
        emit Locked(hash);

        IGeoAccount(op.wallet).pay(op.inputToken, op.inputAmount, expected, hash, r, vs);
    }

    /// @inheritdoc IGeoEscrow
    function lockMany(SignedOp[] calldata ops) external nonReentrant {
        address token;
        uint256 balance;
        bool isKnown;
        for (uint256 i; i < ops.length; ++i) {
            SignedOp calldata signed = ops[i];
            if (!isKnown || signed.op.inputToken != token) {
                if (gasleft() < BALANCE_GAS_FLOOR) revert LowGas();
                token = signed.op.inputToken;
                (isKnown, balance) = CappedCallLib.tryBalance(token, BALANCE_GAS);
            }
            if (_tryLock(signed, isKnown, balance)) balance += signed.op.inputAmount;
        }
    }

    /// @inheritdoc IGeoEscrow
    function claim(LockedOp calldata op, bytes32 r, bytes32 vs) external nonReentrant {
        bytes32[] memory hashes = new bytes32[](1);
        hashes[0] = hashOp(op.op, op.locker);
        _requireAttester(GeoOpLib.hashClaims(hashes), r, vs);
        address token = op.op.inputToken;
        uint256 amount = op.op.inputAmount;
        if (amount > _claimCaps[token].room()) revert ClaimCapReached();

        _close(op.locker, op.op.index, hashes[0], SlotLib.CLAIMED);
        emit Claimed(hashes[0]);
        _payVault(token, amount);
    }

    /// @inheritdoc IGeoEscrow
    function claimMany(LockedOp[] calldata ops, bytes32 r, bytes32 vs) external nonReentrant {
        bytes32[] memory hashes = _hashAll(ops);
        _requireAttester(GeoOpLib.hashClaims(hashes), r, vs);

        address token;
        uint256 room;
        uint256 left;
        for (uint256 i; i < ops.length; ++i) {
            LockedOp calldata locked = ops[i];
            if (i == 0 || locked.op.inputToken != token) {
                if (room != left) _payVault(token, room - left);
                token = locked.op.inputToken;
                left = room = _claimCaps[token].room();
            }
            if (_tryClaim(locked, hashes[i], left)) {
                unchecked {
                    left -= locked.op.inputAmount;
                }
            }
        }
        if (room != left) _payVault(token, room - left);
    }

    /// @inheritdoc IGeoEscrow
    function refund(address locker, Op calldata op) external nonReentrant {
        if (block.timestamp <= op.refundDeadline) revert TooEarly();
        _refund(locker, op, hashOp(op, locker));
    }

    /// @inheritdoc IGeoEscrow
    function refundAttested(address locker, Op calldata op, uint256 validUntil, bytes32 r, bytes32 vs)
        external
        nonReentrant
    {
        if (block.timestamp > validUntil) revert AttestationExpired();
        bytes32 hash = hashOp(op, locker);
        _requireAttester(GeoOpLib.hashRefund(hash, validUntil), r, vs);
        _refund(locker, op, hash);
    }

    /// @inheritdoc IGeoEscrow
    function withdraw(address token, address to) external nonReentrant {
        _withdraw(msg.sender, token, to);
    }

    /// @inheritdoc IGeoEscrow
    function withdrawBySignature(
        address owner,
        address token,
        address to,
        uint256 deadline,
        bytes32 r,
        bytes32 vs
    ) external nonReentrant {
        if (block.timestamp > deadline) revert Expired();
        bytes32 digest = _hashTypedData(GeoOpLib.hashWithdraw(owner, token, to, nonces[owner]++, deadline));
        address signer = SignatureLib.signer(digest, r, vs);
        if (signer == address(0) || signer != owner) revert BadSignature();
        _withdraw(owner, token, to);
    }

    /// @inheritdoc IGeoEscrow
    function proposeAttester(address next) external onlyTreasury {
        _nextAttester = next;
        _nextAttesterReadyAt = uint64(block.timestamp + ATTESTER_DELAY);
        emit AttesterProposed(next, _nextAttesterReadyAt);
    }

    /// @inheritdoc IGeoEscrow
    function acceptAttester() external onlyTreasury {
        address next = _nextAttester;
        if (next == address(0) || block.timestamp < _nextAttesterReadyAt) revert AttesterNotReady();
        attester = next;
        delete _nextAttester;
        delete _nextAttesterReadyAt;
        emit AttesterChanged(next);
    }

    /// @inheritdoc IGeoEscrow
    function setClaimCap(address token, uint256 limitPerHour) external onlyTreasury nonReentrant {
        if (limitPerHour > HourlyCapLib.MAX_LIMIT) revert CapTooLarge();
        _claimCaps[token] = _claimCaps[token].withLimit(limitPerHour);
        emit ClaimCapSet(token, limitPerHour);
    }

    /// @inheritdoc IGeoEscrow
    function hashOp(Op calldata op, address locker) public view returns (bytes32) {
        return _hashTypedData(GeoOpLib.hashOp(op, locker));
    }

    /// @inheritdoc IGeoEscrow
    function ringOf(address locker) external view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), locker));
    }

    /// @inheritdoc IGeoEscrow
    function slot(address locker, uint256 position) public view returns (uint256) {
        if (position > type(uint32).max) revert IndexOutOfRange();
        return _slots[SlotLib.key(locker, position)].word;
    }

    /// @inheritdoc IGeoEscrow
    function slots(address[] calldata lockers, uint256[] calldata positions)
        external
        view
        returns (uint256[] memory words)
    {
        words = new uint256[](lockers.length);
        for (uint256 i; i < lockers.length; ++i) words[i] = slot(lockers[i], positions[i]);
    }

    /// @inheritdoc IGeoEscrow
    function claimCaps(address token) external view returns (uint256 limitPerHour, uint256 claimedThisHour) {
        uint256 word = _claimCaps[token];
        return (word.limit(), word.spent());
    }

    /// @inheritdoc IGeoEscrow
    function pendingAttester() external view returns (address next, uint256 readyAt) {
        return (_nextAttester, _nextAttesterReadyAt);
    }

    /// @dev The selector of the error that prevents the lock, or 0. `word` is the current word of the op's position.
    function _refusal(Op calldata op, uint256 word) private view returns (bytes4) {
        if (block.timestamp > op.opDeadline) return Expired.selector;
        if (op.refundDeadline <= op.opDeadline) return BadDeadlines.selector;
        if (op.refundDeadline > block.timestamp + MAX_HOLD) return BadDeadlines.selector;
        if (op.wallet.codehash != DELEGATED) return NotDelegated.selector;
        if (op.index >> 64 != 0) return IndexOutOfRange.selector;
        if (!word.accepts(op.index)) return SlotTaken.selector;
        return 0;
    }

    function _revertWith(bytes4 selector) private pure {
        if (selector == Expired.selector) revert Expired();
        if (selector == BadDeadlines.selector) revert BadDeadlines();
        if (selector == NotDelegated.selector) revert NotDelegated();
        if (selector == IndexOutOfRange.selector) revert IndexOutOfRange();
        revert SlotTaken();
    }

    /// @dev The balance of this contract after `amount` has arrived; false if the token has none or the sum overflows.
    function _balanceWith(address token, uint256 amount) private view returns (bool ok, uint256 expected) {
        (ok, expected) = CappedCallLib.tryBalance(token, BALANCE_GAS);
        unchecked {
            expected += amount;
        }
        ok = ok && expected >= amount;
    }

    /// @dev Locks one op of a batch, or reports it and leaves the position unchanged.
    function _tryLock(SignedOp calldata signed, bool isKnown, uint256 balance) private returns (bool) {
        Op calldata op = signed.op;
        bytes32 hash = hashOp(op, msg.sender);
        Slot storage place = _slots[SlotLib.key(msg.sender, op.index)];
        uint256 word = place.word;
        uint256 expected;
        unchecked {
            expected = balance + op.inputAmount;
        }
        if (!isKnown || expected < balance || _refusal(op, word) != 0) {
            emit LockFailed(hash);
            return false;
        }
        if (gasleft() < LOCK_GAS_FLOOR) revert LowGas();

        place.word = SlotLib.stateless(op.index, hash) | SlotLib.LOCKED;
        try IGeoAccount(op.wallet).pay{gas: LOCK_GAS}(
            op.inputToken, op.inputAmount, expected, hash, signed.r, signed.vs
        ) {
            emit Locked(hash);
            return true;
        } catch {
            place.word = word;
            emit LockFailed(hash);
            return false;
        }
    }

    function _hashAll(LockedOp[] calldata ops) private view returns (bytes32[] memory hashes) {
        hashes = new bytes32[](ops.length);
        bytes32 domain = _domainSeparator();
        for (uint256 i; i < ops.length; ++i) {
            LockedOp calldata locked = ops[i];
            hashes[i] = MessageHashUtils.toTypedDataHash(domain, GeoOpLib.hashOp(locked.op, locked.locker));
        }
    }

    /// @dev Closes one op of a batch, or leaves it unchanged. `room` is the rest of the token's cap.
    function _tryClaim(LockedOp calldata locked, bytes32 hash, uint256 room) private returns (bool) {
        uint256 index = locked.op.index;
        Slot storage place = _slots[SlotLib.key(locked.locker, index)];
        uint256 word = SlotLib.stateless(index, hash);
        if (place.word != word | SlotLib.LOCKED) return false;
        if (locked.op.inputAmount > room) {
            emit ClaimDeferred(hash);
            return false;
        }
        place.word = word | SlotLib.CLAIMED;
        emit Claimed(hash);
        return true;
    }

    function _refund(address locker, Op calldata op, bytes32 hash) private {
        _close(locker, op.index, hash, SlotLib.REFUNDED);
        emit Refunded(hash);
        _push(op.inputToken, op.wallet, op.inputAmount);
    }

    /// @dev Moves an op from LOCKED to its outcome, once.
    function _close(address locker, uint256 index, bytes32 hash, uint256 outcome) private {
        Slot storage place = _slots[SlotLib.key(locker, index)];
        uint256 word = SlotLib.stateless(index, hash);
        if (place.word != word | SlotLib.LOCKED) revert NotLocked();
        place.word = word | outcome;
    }

    function _payVault(address token, uint256 amount) private {
        _claimCaps[token] = _claimCaps[token].spend(amount);
        _push(token, VAULT, amount);
    }

    /// @dev Pays, or credits a refused payment. The gas suffices for both, so a caller cannot force the credit.
    function _push(address token, address to, uint256 amount) private {
        if (gasleft() < PUSH_GAS_FLOOR) revert LowGas();
        if (CappedCallLib.tryPay(token, to, amount, NATIVE_PUSH_GAS, TOKEN_PUSH_GAS)) return;
        credits[to][token] += amount;
        emit Credited(to, token, amount);
    }

    function _withdraw(address owner, address token, address to) private {
        if (to == address(0) || to == address(this)) revert BadRecipient();
        uint256 amount = credits[owner][token];
        if (amount == 0) revert NoCredit();
        credits[owner][token] = 0;
        emit Withdrawn(owner, token, to, amount);
        if (token == address(0)) SafeTransferLib.safeTransferETH(to, amount);
        else SafeTransferLib.safeTransfer(token, to, amount);
    }

    /// @dev The attester is never the zero address, which a failed recovery returns.
    function _requireAttester(bytes32 structHash, bytes32 r, bytes32 vs) private view {
        if (SignatureLib.signer(_hashTypedData(structHash), r, vs) != attester) revert NotAttested();
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("GeoEscrow", "1");
    }
}
