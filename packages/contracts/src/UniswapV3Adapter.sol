// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LibBytes} from "solady/src/utils/LibBytes.sol";
import {LibCall} from "solady/src/utils/LibCall.sol";
import {SafeCastLib} from "solady/src/utils/SafeCastLib.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {IGeoAdapter} from "./interfaces/IGeoAdapter.sol";
import {IUniswapV3Factory, IUniswapV3Pool} from "./interfaces/IUniswapV3.sol";
import {IUniswapV3Adapter} from "./interfaces/IUniswapV3Adapter.sol";

/// @title UniswapV3Adapter
/// @notice Buys exactly the wanted output. If that costs more than `maxIn`, spends all of `maxIn` for at least
///         `amountOut`: the recipient gets less than the wanted output only if the whole budget was spent.
///
/// Funds it can move: the caller's approval, during the call. The input goes from the caller directly to the pool, and
/// the output from the pool to the recipient; only an intermediate token passes through this contract, and never stays.
///
/// Attacks it prevents:
/// - Strangers who spend a caller's approval: the payer is always the caller of `buy`, carried through the pool.
/// - Contracts that pose as pools: the factory confirms the pool. A real pool calls back only its caller.
/// - Manipulated pool prices, also by sandwiching: `maxIn` and `amountOut` bound both sides, or the call reverts.
/// - Tokens that re-enter: nothing is stored, so there is no inconsistent state; the vault has its own guard.
contract UniswapV3Adapter is IUniswapV3Adapter {
    using LibBytes for bytes;
    using SafeCastLib for uint256;

    /// @dev The payer of a route's input, and the maximum.
    struct Payment {
        address payer;
        uint256 maxIn;
        bytes route;
    }

    /// @dev The pool at the output end of a route, and the direction of the swap.
    struct Hop {
        IUniswapV3Pool pool;
        address tokenIn;
        bool zeroForOne;
    }

    /// @dev A route is token (20 bytes), fee (3), token, fee, ... token: the output first, the input last.
    uint256 private constant TOKEN_SIZE = 20;
    uint256 private constant STEP_SIZE = 23;
    uint256 private constant HOP_SIZE = STEP_SIZE + TOKEN_SIZE;
    /// @dev The wanted output and one fee.
    uint256 private constant DATA_SIZE = 35;

    /// @dev A pool's prices lie strictly between its ticks -887272 and 887272. The amounts are the limit here.
    uint160 private constant LOWEST_LIMIT = 4_295_128_740;
    uint160 private constant HIGHEST_LIMIT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341;

    /// @inheritdoc IUniswapV3Adapter
    IUniswapV3Factory public immutable FACTORY;

    constructor(IUniswapV3Factory factory) {
        FACTORY = factory;
    }

    /// @inheritdoc IGeoAdapter
    function buy(
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        uint256 amountOut,
        address recipient,
        bytes calldata data
    ) external payable {
        if (msg.value != 0 || tokenIn == address(0) || tokenOut == address(0)) revert NativeCoin();
        if (data.length < DATA_SIZE || (data.length - DATA_SIZE) % STEP_SIZE != 0) revert BadRoute();
        uint256 wanted = uint256(bytes32(data[:32]));
        if (wanted < amountOut) revert TooLittle();
        Payment memory payment = Payment(msg.sender, maxIn, abi.encodePacked(tokenOut, data[32:], tokenIn));

        Hop memory hop = _lastHop(payment.route);
        try hop.pool.swap(
            recipient, hop.zeroForOne, -wanted.toInt256(), _limitOf(hop), abi.encode(payment)
        ) returns (int256 amount0, int256 amount1) {
            (, uint256 bought) = _toAmounts(hop, amount0, amount1);
            if (bought != wanted) revert NoLiquidity();
        } catch (bytes memory reason) {
            if (wanted == amountOut) LibCall.bubbleUpRevert(reason);
            if (_sellAll(payment, recipient) < amountOut) revert TooLittle();
        }
    }

    /// @inheritdoc IUniswapV3Adapter
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external {
        Payment memory payment = abi.decode(data, (Payment));
        Hop memory hop = _lastHop(payment.route);
        if (msg.sender != address(hop.pool)) revert NotPool();
        (uint256 owed,) = _toAmounts(hop, amount0Delta, amount1Delta);
        if (owed == 0) revert NoLiquidity();
        if (payment.route.length > HOP_SIZE) return _buyForPool(payment, owed);

        if (owed > payment.maxIn) revert TooExpensive();
        if (payment.payer == address(this)) return SafeTransferLib.safeTransfer(hop.tokenIn, msg.sender, owed);
        SafeTransferLib.safeTransferFrom(hop.tokenIn, payment.payer, msg.sender, owed);
    }

    /// @dev Buys the input due to the calling pool from the next pool of the route. The caller reverts if it gets less.
    function _buyForPool(Payment memory payment, uint256 owed) private {
        payment.route = payment.route.slice(STEP_SIZE);
        _swap(_lastHop(payment.route), payment, -owed.toInt256(), msg.sender);
    }

    /// @dev Sells the whole budget, pool by pool from the input end, and returns the recipient's amount.
    function _sellAll(Payment memory payment, address recipient) private returns (uint256 amount) {
        bytes memory route = payment.route;
        amount = payment.maxIn;
        for (uint256 end = route.length; end >= HOP_SIZE; end -= STEP_SIZE) {
            uint256 start = end - HOP_SIZE;
            payment.maxIn = amount;
            payment.route = route.slice(start, end);
            amount = _sell(payment, start == 0 ? recipient : address(this));
            payment.payer = address(this);
        }
    }

    /// @dev Refuses a pool that takes only a part: the rest of an intermediate token would stay here.
    function _sell(Payment memory payment, address recipient) private returns (uint256) {
        (uint256 sold, uint256 bought) =
            _swap(_lastHop(payment.route), payment, payment.maxIn.toInt256(), recipient);
        if (sold != payment.maxIn) revert NoLiquidity();
        return bought;
    }

    function _swap(Hop memory hop, Payment memory payment, int256 amount, address recipient)
        private
        returns (uint256 sold, uint256 bought)
    {
        (int256 amount0, int256 amount1) =
            hop.pool.swap(recipient, hop.zeroForOne, amount, _limitOf(hop), abi.encode(payment));
        return _toAmounts(hop, amount0, amount1);
    }

    function _lastHop(bytes memory route) private view returns (Hop memory hop) {
        address tokenOut = address(bytes20(route.load(0)));
        uint24 fee = uint24(bytes3(route.load(TOKEN_SIZE)));
        hop.tokenIn = address(bytes20(route.load(STEP_SIZE)));
        hop.zeroForOne = hop.tokenIn < tokenOut;
        hop.pool = IUniswapV3Pool(FACTORY.getPool(hop.tokenIn, tokenOut, fee));
        if (address(hop.pool) == address(0)) revert NoPool();
    }

    /// @dev Converts a pool's balance changes to the amounts sold and bought.
    function _toAmounts(Hop memory hop, int256 amount0, int256 amount1) private pure returns (uint256, uint256) {
        (int256 sold, int256 bought) = hop.zeroForOne ? (amount0, amount1) : (amount1, amount0);
        return (uint256(sold), uint256(-bought));
    }

    function _limitOf(Hop memory hop) private pure returns (uint160) {
        return hop.zeroForOne ? LOWEST_LIMIT : HIGHEST_LIMIT;
    }
}
