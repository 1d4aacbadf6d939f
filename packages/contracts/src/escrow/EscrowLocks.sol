// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GeoAccount} from "../GeoAccount.sol";
import {IERC3009} from "../interfaces/IERC3009.sol";
import {IGeoAccount} from "../interfaces/IGeoAccount.sol";
import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";
import {CappedCallLib} from "../libraries/CappedCallLib.sol";
import {SlotLib} from "../libraries/SlotLib.sol";
import {EscrowAttesters} from "./EscrowAttesters.sol";

/// @title EscrowLocks
/// @notice Two ways in that need the wallet's signature and nothing else: from a wallet that is delegated to GeoAccount,
///         and by an EIP-3009 authorization of the token, from any wallet.
abstract contract EscrowLocks is EscrowAttesters {
    using SlotLib for uint256;

    /// @dev Gas limit of the payment of one op of a batch: real tokens need a third of it.
    uint256 private constant LOCK_GAS = 250_000;
    /// @dev EIP-150 withholds 1/64 from a call; 50,000 cover the record before it (a new word is 22,100) and the log after.
    uint256 private constant LOCK_GAS_FLOOR = LOCK_GAS * 64 / 63 + 50_000;
    uint256 private constant BALANCE_GAS_FLOOR = BALANCE_GAS * 64 / 63 + LOCK_GAS_FLOOR;

    /// @dev Instead of a balance: the sum with any amount is less than the amount, which is refused.
    uint256 private constant UNKNOWN = type(uint256).max;

    /// @inheritdoc IGeoEscrow
    address public immutable ACCOUNT;
    /// @dev Code hash of a wallet delegated to ACCOUNT: EIP-7702's 0xef0100 and the address.
    bytes32 private immutable DELEGATED;

    constructor() {
        ACCOUNT = address(new GeoAccount());
        DELEGATED = keccak256(abi.encodePacked(hex"ef0100", ACCOUNT));
    }

    /// @inheritdoc IGeoEscrow
    function lock(Op calldata op, bytes32 r, bytes32 vs) external nonReentrant {
        if (!_isDelegated(op.wallet)) revert NotDelegated();
        (bytes32 hash, uint256 expected) = _record(op);
        IGeoAccount(op.wallet).pay(op.inputToken, op.inputAmount, expected, hash, r, vs);
    }

    /// @inheritdoc IGeoEscrow
    function lockMany(SignedOp[] calldata ops) external nonReentrant {
        address token;
        uint256 balance = UNKNOWN;
        for (uint256 i; i < ops.length; ++i) {
            SignedOp calldata signed = ops[i];
            balance = _balanceBefore(signed.op, token, balance);
            token = signed.op.inputToken;
            uint256 expected = _plus(balance, signed.op.inputAmount);
            if (_tryLock(signed, expected)) balance = expected;
        }
    }

    /// @inheritdoc IGeoEscrow
    function lockWithAuthorization(Op calldata op, bytes calldata signature) external nonReentrant {
        _requirePayable(op.wallet);
        (bytes32 hash, uint256 expected) = _record(op);
        _receive(op, hash, expected, signature);
    }

    /// @inheritdoc IGeoEscrow
    function lockManyWithAuthorization(AuthorizedOp[] calldata ops) external nonReentrant {
        address token;
        uint256 balance = UNKNOWN;
        for (uint256 i; i < ops.length; ++i) {
            AuthorizedOp calldata authorized = ops[i];
            balance = _balanceBefore(authorized.op, token, balance);
            token = authorized.op.inputToken;
            uint256 expected = _plus(balance, authorized.op.inputAmount);
            if (_tryLockAuthorized(authorized, expected)) balance = expected;
        }
    }

    /// @inheritdoc IGeoEscrow
    function receiveAuthorized(Op calldata op, bytes32 opHash, uint256 expectedBalance, bytes calldata signature)
        external
        onlySelf
    {
        _receive(op, opHash, expectedBalance, signature);
    }

    /// @dev Records an op as LOCKED under the caller before its input is taken. `expected` is this contract's balance of
    ///      the input token afterwards.
    function _record(Op calldata op) internal returns (bytes32 hash, uint256 expected) {
        Slot storage place = _slots[SlotLib.key(msg.sender, op.index)];
        bytes4 refusal = _refusal(op, place.word);
        if (refusal != 0) _revertWith(refusal);
        bool ok;
        (ok, expected) = CappedCallLib.tryBalance(op.inputToken, BALANCE_GAS);
        expected = _plus(expected, op.inputAmount);
        if (!ok || expected < op.inputAmount) revert BadBalance();

        hash = hashOp(op, msg.sender);
        place.word = SlotLib.stateless(op.index, hash) | SlotLib.LOCKED;
        emit Locked(hash);
    }

    /// @dev A delegated wallet is payable anyway.
    function _requirePayable(address wallet) internal view {
        if (!_isPayable(wallet)) revert BadWallet();
    }

    function _requireBalance(address token, uint256 expected) internal view {
        (bool ok, uint256 held) = CappedCallLib.tryBalance(token, BALANCE_GAS);
        if (!ok || held != expected) revert WrongAmount();
    }

    /// @dev The token checks the signature and that the caller is the receiver, so nobody else can use it.
    function _receive(Op calldata op, bytes32 hash, uint256 expected, bytes calldata signature) private {
        IERC3009(op.inputToken).receiveWithAuthorization(
            op.wallet, address(this), op.inputAmount, 0, op.opDeadline + 1, hash, signature
        );
        _requireBalance(op.inputToken, expected);
    }

    /// @dev The selector of the error that prevents the lock, or 0. `word` is the current word of the op's position.
    function _refusal(Op calldata op, uint256 word) private view returns (bytes4) {
        if (block.timestamp > op.opDeadline) return Expired.selector;
        if (op.refundDeadline <= op.opDeadline) return BadDeadlines.selector;
        if (op.refundDeadline > block.timestamp + MAX_HOLD) return BadDeadlines.selector;
        if (op.index >> 64 != 0) return IndexOutOfRange.selector;
        if (!word.accepts(op.index)) return SlotTaken.selector;
        return 0;
    }

    function _revertWith(bytes4 selector) private pure {
        if (selector == Expired.selector) revert Expired();
        if (selector == BadDeadlines.selector) revert BadDeadlines();
        if (selector == IndexOutOfRange.selector) revert IndexOutOfRange();
        revert SlotTaken();
    }

    /// @dev Less than `amount` if the sum overflows.
    function _plus(uint256 balance, uint256 amount) private pure returns (uint256) {
        unchecked {
            return balance + amount;
        }
    }

    function _isDelegated(address wallet) private view returns (bool) {
        return wallet.codehash == DELEGATED;
    }

    /// @dev A refund to nobody or to this contract would be lost.
    function _isPayable(address wallet) private view returns (bool) {
        return wallet != address(0) && wallet != address(this);
    }

    /// @dev This contract's balance of the op's token before the op of a batch; UNKNOWN if the token does not answer.
    ///      `token` and `balance` are those after the op before it.
    function _balanceBefore(Op calldata op, address token, uint256 balance) private view returns (uint256) {
        if (balance != UNKNOWN && op.inputToken == token) return balance;
        if (gasleft() < BALANCE_GAS_FLOOR) revert LowGas();
        (bool ok, uint256 held) = CappedCallLib.tryBalance(op.inputToken, BALANCE_GAS);
        return ok ? held : UNKNOWN;
    }

    /// @dev Locks one op of a batch, or reports it and leaves the position unchanged.
    function _tryLock(SignedOp calldata signed, uint256 expected) private returns (bool) {
        Op calldata op = signed.op;
        (bytes32 hash, Slot storage place, uint256 word) = _tryRecord(op, expected, _isDelegated(op.wallet));
        if (hash == 0) return false;
        try IGeoAccount(op.wallet).pay{gas: LOCK_GAS}(
            op.inputToken, op.inputAmount, expected, hash, signed.r, signed.vs
        ) {
            emit Locked(hash);
            return true;
        } catch {
            return _undo(hash, place, word);
        }
    }

    /// @dev As `_tryLock`. The call to itself gives the op its own gas, and a failure undoes the transfer.
    function _tryLockAuthorized(AuthorizedOp calldata authorized, uint256 expected) private returns (bool) {
        Op calldata op = authorized.op;
        (bytes32 hash, Slot storage place, uint256 word) = _tryRecord(op, expected, _isPayable(op.wallet));
        if (hash == 0) return false;
        try this.receiveAuthorized{gas: LOCK_GAS}(op, hash, expected, authorized.signature) {
            emit Locked(hash);
            return true;
        } catch {
            return _undo(hash, place, word);
        }
    }

    /// @dev Records one op of a batch as LOCKED before its input is taken, and returns the word that was there. Reports
    ///      an op that cannot be locked, and returns no hash.
    function _tryRecord(Op calldata op, uint256 expected, bool isPayable)
        private
        returns (bytes32 hash, Slot storage place, uint256 word)
    {
        hash = hashOp(op, msg.sender);
        place = _slots[SlotLib.key(msg.sender, op.index)];
        word = place.word;
        if (expected < op.inputAmount || !isPayable || _refusal(op, word) != 0) {
            emit LockFailed(hash);
            return (0, place, word);
        }
        if (gasleft() < LOCK_GAS_FLOOR) revert LowGas();
        place.word = SlotLib.stateless(op.index, hash) | SlotLib.LOCKED;
    }

    function _undo(bytes32 hash, Slot storage place, uint256 word) private returns (bool) {
        place.word = word;
        emit LockFailed(hash);
        return false;
    }
}
