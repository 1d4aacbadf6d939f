// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {IERC3009} from "../interfaces/IERC3009.sol";
import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";
import {OpAddressLib} from "../libraries/OpAddressLib.sol";
import {SlotLib} from "../libraries/SlotLib.sol";
import {EscrowLocks} from "./EscrowLocks.sol";

/// @title EscrowOpAddress
/// @notice Three ways in through the op's own address: what anyone sent there, what it may take by a permit, and what
///         an authorization pays to it. All that lies there can only go into this contract for this op, or to the op's
///         wallet.
/// @dev A lock creates the code at the op's address, and a recovery does so only when the op can no longer be locked. So
///      a lock never finds code there.
abstract contract EscrowOpAddress is EscrowLocks {
    using SlotLib for uint256;

    /// @dev Hash of the init code of every op's address.
    bytes32 private immutable OP_CODE_HASH = keccak256(OpAddressLib.initCode(address(this)));

    /// @inheritdoc IGeoEscrow
    function lockDeposited(Op calldata op) external nonReentrant {
        _requirePayable(op.wallet);
        (bytes32 hash, uint256 expected) = _record(op);
        address at = OpAddressLib.create(hash);
        IGeoEscrow(at).moveFromOpAddress(op.inputToken, at, address(this), op.inputAmount);
        _requireBalance(op.inputToken, expected);
    }

    /// @inheritdoc IGeoEscrow
    function lockPermitted(Op calldata op, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external nonReentrant {
        _requirePayable(op.wallet);
        (bytes32 hash, uint256 expected) = _record(op);
        address at = OpAddressLib.create(hash);
        // Anyone can use the permit first. Then the allowance is there.
        try IERC20Permit(op.inputToken).permit(op.wallet, at, op.inputAmount, deadline, v, r, s) {} catch {}
        IGeoEscrow(at).moveFromOpAddress(op.inputToken, op.wallet, address(this), op.inputAmount);
        _requireBalance(op.inputToken, expected);
    }

    /// @inheritdoc IGeoEscrow
    function lockPaid(
        Op calldata op,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external nonReentrant {
        _requirePayable(op.wallet);
        (bytes32 hash, uint256 expected) = _record(op);
        address at = OpAddressLib.create(hash);
        // Anyone can use the authorization first. Then the input is there.
        try IERC3009(op.inputToken).transferWithAuthorization(
            op.wallet, at, op.inputAmount, validAfter, validBefore, nonce, signature
        ) {} catch {}
        IGeoEscrow(at).moveFromOpAddress(op.inputToken, at, address(this), op.inputAmount);
        _requireBalance(op.inputToken, expected);
    }

    /// @inheritdoc IGeoEscrow
    function recover(address locker, Op calldata op, address token) external nonReentrant {
        if (block.timestamp <= op.opDeadline && !_slots[SlotLib.key(locker, op.index)].word.hasSeen(op.index)) {
            revert TooEarly();
        }
        bytes32 hash = hashOp(op, locker);
        address at = depositAddress(hash);
        uint256 held = _balanceOf(token, at);
        if (held == 0) revert NothingToRecover();
        // CREATE2 where there is code already would burn all gas.
        if (at.code.length == 0) OpAddressLib.create(hash);
        if (gasleft() < PUSH_GAS_FLOOR) revert LowGas();
        try IGeoEscrow(at).moveFromOpAddress{gas: TOKEN_PUSH_GAS}(token, at, op.wallet, held) {} catch {}
        uint256 left = _balanceOf(token, at);
        if (left != 0) left = _takeRefused(token, at, op.wallet, left);
        if (left >= held) revert PaymentRefused();
        emit Recovered(hash, token, held - left);
    }

    /// @inheritdoc IGeoEscrow
    function moveFromOpAddress(address token, address from, address to, uint256 amount) external onlySelf {
        if (token == address(0)) SafeTransferLib.safeTransferETH(to, amount);
        else if (from == address(this)) SafeTransferLib.safeTransfer(token, to, amount);
        else SafeTransferLib.safeTransferFrom(token, from, to, amount);
    }

    /// @inheritdoc IGeoEscrow
    function depositAddress(bytes32 op) public view returns (address) {
        return OpAddressLib.predict(op, OP_CODE_HASH);
    }

    /// @dev Takes what a wallet was not paid, and credits the wallet what came. Returns what is still at the op's address.
    function _takeRefused(address token, address at, address wallet, uint256 amount) private returns (uint256) {
        uint256 before = _balanceOf(token, address(this));
        IGeoEscrow(at).moveFromOpAddress(token, at, address(this), amount);
        uint256 received = _balanceOf(token, address(this)) - before;
        if (received != 0) _credit(wallet, token, received);
        return _balanceOf(token, at);
    }

    function _balanceOf(address token, address holder) private view returns (uint256) {
        return token == address(0) ? holder.balance : SafeTransferLib.balanceOf(token, holder);
    }
}
